"""Alembic's entry: migrate on the connection that :mod:`semcrawl.metadata.database` passes."""

from alembic import context

from semcrawl.metadata.records import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
