"""Our values for Scrapy's ``FEED_EXPORTERS`` and ``FEED_STORAGES``."""

FEED_EXPORTERS: dict[str, str] = {
    "nq": "semcrawl.exporters.documentfeeds.NQuadsExporter",
    "nt": "semcrawl.exporters.documentfeeds.NTriplesExporter",
    "trig": "semcrawl.exporters.documentfeeds.TrigExporter",
    "ttl": "semcrawl.exporters.documentfeeds.TurtleExporter",
    "jsonl": "semcrawl.exporters.documentfeeds.DocumentLinesExporter",
    "gz": "semcrawl.exporters.documentfeeds.CompressedExporter",
    "zst": "semcrawl.exporters.documentfeeds.CompressedExporter",
}

FEED_STORAGES: dict[str, str] = {
    "": "semcrawl.exporters.storage.AtomicFileStorage",
    "file": "semcrawl.exporters.storage.AtomicFileStorage",
    "s3": "semcrawl.exporters.storage.S3Storage",
}
