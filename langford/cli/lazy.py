"""A group of commands that imports the module of a command when it is called: so every command starts fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import click

from langford.loading import load


@dataclass(frozen=True)
class LazyCommand:
    """A command that is not imported yet.

    Attributes:
        reference: "module:name", for :func:`langford.loading.load`.
        short_help: its line in the help of the group: the first sentence of its own help.
    """

    reference: str
    short_help: str

    def load(self) -> click.Command:
        """Import the module of the command; returns the command."""
        command: click.Command = load(self.reference)
        return command


class LazyGroup(click.Group):
    """A group of :class:`LazyCommand`; its help imports none of them.

    Attributes:
        table: the commands by name.
    """

    def __init__(self, *args: object, table: Mapping[str, LazyCommand], **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self.table = dict(table)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands in alphabetical order."""
        return sorted(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now; None when there is none."""
        lazy = self.table.get(cmd_name)
        return lazy.load() if lazy else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table alone, one line for each, as click does."""
        names = self.list_commands(ctx)
        width = formatter.width - 6 - max(map(len, names))
        lines = {name: click.Command(name, help=self.table[name].short_help) for name in names}
        with formatter.section("Commands"):
            formatter.write_dl([(name, line.get_short_help_str(width)) for name, line in lines.items()])
