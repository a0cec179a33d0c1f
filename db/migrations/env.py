"""Alembic environment: runs on the connection that :func:`db.schema.upgrade` hands over."""

from alembic import context

from db.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
context.run_migrations()
