"""The headers that tell how a document is served, and the links of pages."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0010"
down_revision = "0009"

_LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")
_LONG_BYTES = sa.LargeBinary().with_variant(mysql.MEDIUMBLOB(), "mysql", "mariadb")


def upgrade() -> None:
    """Add the column and the table."""
    op.add_column("fetch", sa.Column("served", sa.Text, nullable=True))
    op.create_table(
        "page_links",
        sa.Column("url_key", sa.String(64), primary_key=True),
        sa.Column("url", _LONG_TEXT, nullable=False),
        sa.Column("links", _LONG_BYTES, nullable=False),
    )


def downgrade() -> None:
    """Drop them."""
    op.drop_table("page_links")
    op.drop_column("fetch", "served")
