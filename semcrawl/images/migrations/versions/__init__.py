"""The steps, in order."""

__all__: list[str] = []
