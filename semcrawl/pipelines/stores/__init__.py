"""Triple stores: what of ``quads.nq`` they lack, and how it gets there."""

__all__: list[str] = []
