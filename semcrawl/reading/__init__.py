"""Reading in processes that end when a document takes too long."""

__all__: list[str] = []
