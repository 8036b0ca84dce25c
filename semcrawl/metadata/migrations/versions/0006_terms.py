"""Classes and properties by document."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0006"
down_revision = "0005"

_LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    """Add the tables; the terms of existing documents are not counted."""
    op.add_column("document", sa.Column("terms_complete", sa.Boolean, nullable=True))
    op.create_table(
        "term",
        sa.Column("id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("iri", _LONG_TEXT, nullable=False),
    )
    op.create_table(
        "term_use",
        sa.Column("document_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("term_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_term_use_term", "term_use", ["term_id"])
