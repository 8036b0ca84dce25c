"""The machine under a crawl: files, descriptors, processes, the event loop."""

__all__: list[str] = []
