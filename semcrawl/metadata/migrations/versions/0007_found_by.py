"""Columns for the kind of link that led to an address and to a document."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the columns; existing rows keep them empty."""
    for table in ("fetch", "document"):
        op.add_column(
            table, sa.Column("found_by", sa.String(16), nullable=False, server_default="")
        )
        with op.batch_alter_table(table) as batch:
            batch.alter_column("found_by", existing_type=sa.String(16), server_default=None)
