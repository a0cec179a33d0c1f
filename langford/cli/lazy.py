"""A group of commands whose modules are imported when they are called, so that every command starts fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import click

from langford.loading import load


@dataclass(frozen=True)
class LazyCommand:
    """Where a command is defined, and its line in the listing of its group.

    Attributes:
        place: "module:attribute".
        short_help: the first sentence of the command's own help.
    """

    place: str
    short_help: str

    def load(self) -> click.Command:
        """Import the command's module; the command."""
        command: click.Command = load(self.place)
        return command


class LazyGroup(click.Group):
    """A group of :class:`LazyCommand`; its help imports none of them."""

    def __init__(self, *args: object, table: Mapping[str, LazyCommand], **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self.table = dict(table)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, by alphabet."""
        return sorted(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now; None when there is none."""
        lazy = self.table.get(cmd_name)
        return lazy.load() if lazy else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the listing from the table alone, each command on one line as click does."""
        names = self.list_commands(ctx)
        width = formatter.width - 6 - max(map(len, names))
        lines = {name: click.Command(name, help=self.table[name].short_help) for name in names}
        with formatter.section("Commands"):
            formatter.write_dl([(name, line.get_short_help_str(width)) for name, line in lines.items()])
