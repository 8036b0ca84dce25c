"""Reports on what was harvested: what is broken, dead, badly served or hard to find, and why."""

__all__: list[str] = []
