"""Alembic's migrations of the images' database."""

__all__: list[str] = []
