"""The downloader and its handler: connections, names, response heads."""

__all__ = ["downloader", "handler", "resolver", "spool"]
