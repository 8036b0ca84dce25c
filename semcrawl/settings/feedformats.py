"""Our values for Scrapy's ``FEED_EXPORTERS`` and ``FEED_STORAGES``."""

FEED_EXPORTERS: dict[str, str] = {
    "nq": "semcrawl.exporters.documentfeeds.NQuadsExporter",
    "nt": "semcrawl.exporters.documentfeeds.NTriplesExporter",
    "trig": "semcrawl.exporters.documentfeeds.TrigExporter",
    "ttl": "semcrawl.exporters.documentfeeds.TurtleExporter",
    "jsonl": "semcrawl.exporters.textfeeds.DocumentLinesExporter",
    "jsonlines": "semcrawl.exporters.textfeeds.JsonLinesExporter",
    "jl": "semcrawl.exporters.textfeeds.JsonLinesExporter",
    "json": "semcrawl.exporters.textfeeds.JsonExporter",
    "csv": "semcrawl.exporters.textfeeds.CsvExporter",
    "xml": "semcrawl.exporters.textfeeds.XmlExporter",
    "gz": "semcrawl.exporters.documentfeeds.CompressedExporter",
    "zst": "semcrawl.exporters.documentfeeds.CompressedExporter",
}

FEED_STORAGES: dict[str, str] = {
    "": "semcrawl.exporters.storage.AtomicFileStorage",
    "file": "semcrawl.exporters.storage.AtomicFileStorage",
    "s3": "semcrawl.exporters.storage.S3Storage",
}
