"""Texts for terminals and logs."""
