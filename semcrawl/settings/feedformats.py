"""Our values for Scrapy's ``FEED_EXPORTERS`` and ``FEED_STORAGES``."""

FEED_EXPORTERS: dict[str, str] = {
    "nq": "semcrawl.pipelines.documentfeeds.NQuadsExporter",
    "nt": "semcrawl.pipelines.documentfeeds.NTriplesExporter",
    "trig": "semcrawl.pipelines.documentfeeds.TrigExporter",
    "ttl": "semcrawl.pipelines.documentfeeds.TurtleExporter",
    "jsonl": "semcrawl.pipelines.documentfeeds.DocumentLinesExporter",
    "jsonlines": "semcrawl.pipelines.documentfeeds.JsonLinesExporter",
    "jl": "semcrawl.pipelines.documentfeeds.JsonLinesExporter",
    "json": "semcrawl.pipelines.documentfeeds.JsonExporter",
    "csv": "semcrawl.pipelines.documentfeeds.CsvExporter",
    "xml": "semcrawl.pipelines.documentfeeds.XmlExporter",
    "gz": "semcrawl.pipelines.documentfeeds.CompressedExporter",
    "zst": "semcrawl.pipelines.documentfeeds.CompressedExporter",
}

FEED_STORAGES: dict[str, str] = {
    "": "semcrawl.pipelines.feeds.AtomicFileStorage",
    "file": "semcrawl.pipelines.feeds.AtomicFileStorage",
    "s3": "semcrawl.pipelines.feeds.S3Storage",
}
