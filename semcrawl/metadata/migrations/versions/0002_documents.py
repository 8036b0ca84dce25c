"""Documents, their graphs, and which of them triple stores have."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0002"
down_revision = "0001"

ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")
#: MySQL allows no default for TEXT; rows from before get the empty text
NEW_COLUMNS = (
    ("spider", sa.String(64)),
    ("worker", sa.String(128)),
    ("etag", sa.Text()),
    ("last_modified", sa.Text()),
    ("content_hash", sa.String(64)),
)


def upgrade() -> None:
    """Add the columns and tables."""
    for name, kind in NEW_COLUMNS:
        op.add_column("fetch", sa.Column(name, kind, nullable=True))
    fetch = sa.table("fetch", *(sa.column(name, kind) for name, kind in NEW_COLUMNS))
    op.execute(fetch.update().values({name: "" for name, _ in NEW_COLUMNS}))
    with op.batch_alter_table("fetch") as batch:
        for name, kind in NEW_COLUMNS:
            batch.alter_column(name, existing_type=kind, nullable=False)
    op.create_table(
        "document",
        sa.Column("id", ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("url_key", sa.String(64), nullable=False, unique=True),
        sa.Column("url", LONG_TEXT, nullable=False),
        sa.Column("request_url", LONG_TEXT, nullable=False),
        sa.Column("parent_url", LONG_TEXT),
        sa.Column("depth", sa.Integer, nullable=False),
        sa.Column("label", sa.String(16), nullable=False),
        sa.Column("rules", sa.Text, nullable=False),
        sa.Column("format", sa.String(32), nullable=False),
        sa.Column("content_type", sa.Text, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("quads", sa.BigInteger, nullable=False),
        sa.Column("error_count", sa.Integer, nullable=False),
        sa.Column("etag", sa.Text, nullable=False),
        sa.Column("last_modified", sa.Text, nullable=False),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("fetched_at", sa.Double, nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("offset", sa.BigInteger, nullable=False),
        sa.Column("length", sa.BigInteger, nullable=False),
        sa.Column("first_seen_at", sa.Double, nullable=False),
        sa.Column("last_seen_at", sa.Double, nullable=False),
        sa.Column("visits", sa.Integer, nullable=False),
        sa.Column("changes", sa.Integer, nullable=False),
        sa.Column("gone_at", sa.Double),
    )
    op.create_index("ix_document_span", "document", ["offset", "length"])
    op.create_index("ix_document_revision", "document", ["revision"])
    op.create_table(
        "contribution",
        sa.Column("id", ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("document_key", sa.String(64), nullable=False),
        sa.Column("graph_key", sa.String(64), nullable=False),
        sa.Column("graph", LONG_TEXT, nullable=False),
    )
    op.create_index("ix_contribution_graph_key", "contribution", ["graph_key"])
    op.create_index(
        "ix_contribution_pair", "contribution", ["document_key", "graph_key"], unique=True
    )
    op.create_table(
        "delivery",
        sa.Column("target", sa.String(255), primary_key=True),
        sa.Column("revision", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "refusal",
        sa.Column("id", ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("target", sa.String(255), nullable=False),
        sa.Column("url", LONG_TEXT, nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("error", LONG_TEXT, nullable=False),
        sa.Column("refused_at", sa.Double, nullable=False),
    )
