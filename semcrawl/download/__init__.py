"""The download handler: connections, names, response heads."""

__all__ = ["handler", "resolver", "spool"]
