"""Alembic's environment: it uses the connection that :func:`db.schema.upgrading.upgrade` passes on."""

from alembic import context

from db.schema.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
context.run_migrations()
