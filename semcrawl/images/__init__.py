"""Finds images in pages and the texts near them, decodes, compares and stores them.

Nothing here needs Scrapy, a frontier or an HTTP client. Databases are opened by SQLAlchemy.
"""

__all__: list[str] = []
