"""What a crawl needs of its machine: files, descriptors, an event loop."""

__all__: list[str] = []
