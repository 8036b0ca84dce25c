"""Unpacks compressed bodies and archives as bounded streams."""

__all__: list[str] = []
