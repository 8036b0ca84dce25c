"""Columns for the topic's judgement of each document."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0008"
down_revision = "0007"

_LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    """Add the columns."""
    op.add_column("fetch", sa.Column("relevance", sa.Double, nullable=True))
    op.add_column("fetch", sa.Column("reasons", _LONG_TEXT, nullable=True))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("fetch", "reasons")
    op.drop_column("fetch", "relevance")
