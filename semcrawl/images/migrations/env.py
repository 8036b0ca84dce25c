"""Alembic's entry: migrate on the connection that :mod:`semcrawl.metadata.schema` passes."""

from alembic import context

from semcrawl.images.schema import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
