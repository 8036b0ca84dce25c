"""Output for terminals and logs."""

__all__ = ["logformat"]
