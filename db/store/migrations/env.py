"""Alembic's environment: it uses the connection that :func:`db.store.upgrading.upgrade` passes on."""

from alembic import context

from db.store.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
context.run_migrations()
