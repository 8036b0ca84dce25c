"""The tables of images, pages, near texts and queries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "domain",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("best_place", sa.String(64), nullable=False),
    )
    op.create_table(
        "domain_score",
        sa.Column("domain_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("class_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("previous", sa.Double, nullable=False),
        sa.Column("estimate", sa.Double, nullable=False),
        sa.Column("w0", sa.Double, nullable=False),
        sa.Column("w1", sa.Double, nullable=False),
        sa.Column("w2", sa.Double, nullable=False),
        sa.Column("w3", sa.Double, nullable=False),
        sa.Column("learning_rate", sa.Double, nullable=False),
    )
    op.create_table(
        "image",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("sha256", sa.String(64), nullable=False, unique=True),
        sa.Column("perceptual_hash", sa.String(64), nullable=False),
        sa.Column("miniature", sa.LargeBinary, nullable=False),
        sa.Column("width", sa.Integer, nullable=False),
        sa.Column("height", sa.Integer, nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("media_type", sa.String(64), nullable=False),
        sa.Column("frames", sa.Integer, nullable=False),
        sa.Column("grey_thumbnail", sa.String(80), nullable=False),
        sa.Column("colour_thumbnail", sa.String(80), nullable=False),
        sa.Column("pages", sa.Integer, nullable=False),
        sa.Column("dropped", sa.Boolean, nullable=False),
        sa.Column("first_seen_at", sa.Double, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "image_address",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("final_url", sa.Text, nullable=False),
        sa.Column("image_id", sa.Integer, nullable=True),
        sa.Column("outcome", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("width", sa.Integer, nullable=False),
        sa.Column("height", sa.Integer, nullable=False),
        sa.Column("fetched_at", sa.Double, nullable=False),
    )
    op.create_index("ix_image_address_final_url", "image_address", ["final_url"])
    op.create_index("ix_image_address_image_id", "image_address", ["image_id"])
    op.create_index("ix_image_address_outcome", "image_address", ["outcome"])
    op.create_index("ix_image_address_sha256", "image_address", ["sha256"])
    op.create_table(
        "image_class",
        sa.Column("image_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("class_id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("by_text", sa.Double, nullable=False),
        sa.Column("by_picture", sa.Double, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_image_class_class", "image_class", ["class_id"])
    op.create_table(
        "image_place",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=False),
        sa.Column("page_id", sa.BigInteger, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("image_url", sa.Text, nullable=False),
        sa.Column("address_id", sa.BigInteger, nullable=False),
        sa.Column("image_id", sa.Integer, nullable=True),
        sa.Column("found_as", sa.String(16), nullable=False),
        sa.Column("has_caption", sa.Boolean, nullable=False),
    )
    op.create_index("ix_image_place_address_id", "image_place", ["address_id"])
    op.create_index("ix_image_place_image_id", "image_place", ["image_id"])
    op.create_index("ix_image_place_page_id", "image_place", ["page_id"])
    op.create_table(
        "near_text",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("place_id", sa.BigInteger, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("tag", sa.String(32), nullable=False),
        sa.Column("distance", sa.Integer, nullable=False),
        sa.Column("level", sa.Integer, nullable=False),
    )
    op.create_index("ix_near_text_place_id", "near_text", ["place_id"])
    op.create_table(
        "page",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=False),
        sa.Column("domain_id", sa.BigInteger, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("score", sa.Double, nullable=False),
    )
    op.create_index("ix_page_domain_id", "page", ["domain_id"])
    op.create_table(
        "page_link",
        sa.Column("source_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("target_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_page_link_target", "page_link", ["target_id"])
    op.create_table(
        "place_score",
        sa.Column("domain_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("place", sa.String(64), primary_key=True),
        sa.Column("score", sa.Double, nullable=False),
        sa.Column("images", sa.Integer, nullable=False),
    )
    op.create_table(
        "query",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("class_id", sa.Integer, nullable=True),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("last_asked_at", sa.Double, nullable=False),
    )
    op.create_index("ix_query_class_id", "query", ["class_id"])
    op.create_table(
        "query_class",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("made_at", sa.Double, nullable=False),
    )
    op.create_table(
        "visit",
        sa.Column("id", _ROW_ID, primary_key=True, autoincrement=False),
        sa.Column("page_id", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Integer, nullable=True),
        sa.Column("content_hash", sa.String(64), nullable=False),
        sa.Column("images_seen", sa.Integer, nullable=False),
        sa.Column("images_kept", sa.Integer, nullable=False),
        sa.Column("links_seen", sa.Integer, nullable=False),
        sa.Column("links_normalised", sa.Integer, nullable=False),
        sa.Column("visited_at", sa.Double, nullable=False),
    )
    op.create_index("ix_visit_page_id", "visit", ["page_id"])
