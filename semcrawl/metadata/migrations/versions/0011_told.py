"""What triple stores were told of the provenance of documents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "told",
        sa.Column("target", sa.String(255), primary_key=True),
        sa.Column("document_key", sa.String(64), primary_key=True),
        sa.Column("state", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("told")
