"""Access to the operating system: files, locks, descriptors, processes."""

__all__: list[str] = []
