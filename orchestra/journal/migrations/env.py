"""Alembic runs this file; the connection and its transaction are the store's own."""

from alembic import context

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"],
    version_table=attributes["version_table"],
    render_as_batch=True,  # SQLite alters a table by copying it
)
context.run_migrations()
