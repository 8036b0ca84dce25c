"""Images of the web: where they stand, the texts near them, how they are kept and told apart.

Nothing here needs Scrapy, a frontier or an HTTP client. Databases are opened by SQLAlchemy.
"""

__all__: list[str] = []
