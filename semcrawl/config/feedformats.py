"""Formats and storages for Scrapy's ``FEED_EXPORTERS`` and ``FEED_STORAGES``."""

FEED_EXPORTERS: dict[str, str] = {
    "nq": "semcrawl.exporters.documents.NQuadsExporter",
    "nt": "semcrawl.exporters.documents.NTriplesExporter",
    "trig": "semcrawl.exporters.documents.TrigExporter",
    "ttl": "semcrawl.exporters.documents.TurtleExporter",
    "jsonl": "semcrawl.exporters.documents.DocumentLinesExporter",
    "gz": "semcrawl.exporters.documents.CompressedExporter",
    "zst": "semcrawl.exporters.documents.CompressedExporter",
}

FEED_STORAGES: dict[str, str] = {
    "": "semcrawl.exporters.storage.AtomicFileStorage",
    "file": "semcrawl.exporters.storage.AtomicFileStorage",
    "s3": "semcrawl.exporters.storage.S3Storage",
}
