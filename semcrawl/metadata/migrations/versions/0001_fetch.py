"""One row per attempt."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0001"
down_revision = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    """Make the table ``fetch``."""
    op.create_table(
        "fetch",
        sa.Column("id", ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("url", LONG_TEXT, nullable=False),
        sa.Column("final_url", LONG_TEXT, nullable=False),
        sa.Column("parent_url", LONG_TEXT),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("label", sa.String(16), nullable=False),
        sa.Column("rules", sa.Text, nullable=False),
        sa.Column("outcome", sa.String(32), nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("content_type", sa.Text, nullable=False),
        sa.Column("real_type", sa.String(64), nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("quads", sa.BigInteger, nullable=False),
        sa.Column("errors", LONG_TEXT, nullable=False),
        sa.Column("started_at", sa.Double, nullable=False),
        sa.Column("elapsed", sa.Double, nullable=False),
    )
    op.create_index("ix_fetch_outcome", "fetch", ["outcome"])
