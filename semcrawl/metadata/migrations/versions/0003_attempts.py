"""Numbers of attempts, so that the record of a repeated attempt replaces the first."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column."""
    op.add_column("fetch", sa.Column("attempt", sa.BigInteger, nullable=True))
    op.create_index("ix_fetch_attempt", "fetch", ["attempt"], unique=True)
