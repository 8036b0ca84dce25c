"""Delivers ``quads.nq`` to triple stores."""

__all__: list[str] = []
