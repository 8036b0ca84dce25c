"""Alembic migrations of the metadata database."""

__all__: list[str] = []
