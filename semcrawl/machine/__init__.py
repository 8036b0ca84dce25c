"""What a crawl needs of its machine: files, descriptors, an event loop."""
