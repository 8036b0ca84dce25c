"""A column for the checksum of each document's lines."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the column."""
    op.add_column("document", sa.Column("checksum", sa.String(32), nullable=True))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("document", "checksum")
