"""Graphs that documents have made in triple stores."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql

revision = "0005"
down_revision = "0004"

_ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_LONG_TEXT = sa.Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")


def upgrade() -> None:
    """Add the table; existing deliveries have no owners noted."""
    op.add_column("delivery", sa.Column("has_owners", sa.Boolean, nullable=True))
    op.execute(
        sa.table("delivery", sa.column("has_owners", sa.Boolean)).update().values(has_owners=False)
    )
    with op.batch_alter_table("delivery") as batch:
        batch.alter_column("has_owners", existing_type=sa.Boolean(), nullable=False)
    op.create_table(
        "made_graph",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("target", sa.String(255), nullable=False),
        sa.Column("name_key", sa.String(64), nullable=False),
        sa.Column("name", _LONG_TEXT, nullable=False),
        sa.Column("document_key", sa.String(64), nullable=False),
        sa.Column("stated", _LONG_TEXT, nullable=False),
        sa.Column("claimed_for", sa.String(64)),
        sa.Column("witness", _LONG_TEXT),
    )
    op.create_index("ix_made_graph_name", "made_graph", ["target", "name_key"], unique=True)
    op.create_index("ix_made_graph_document", "made_graph", ["target", "document_key"])
