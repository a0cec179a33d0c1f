"""Groups of commands whose help shows complete summaries, and a group that imports a command when it is called."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
from click.shell_completion import CompletionItem

from langford.cli.loading import load

SUMMARY_LENGTH = 1000
"""The maximum length of a summary in characters: no summary is cut."""
SYNONYMS = {"backup": "copy"}
"""What people call a command."""
GC_OBJECTS = 50_000
"""New objects after which Python looks for cycles; its own 700 cost a twentieth of the time of a long listing."""


@dataclass(frozen=True)
class LazyCommand:
    reference: str  # "module:name", for langford.cli.loading.load
    short_help: str
    section: str  # the heading under which the help of the group lists it

    def load(self) -> click.Command:
        # What is imported stays: looking for cycles in it takes a tenth of a short command's processor time.
        gc.disable()
        try:
            command: click.Command = load(self.reference)
        finally:
            gc.enable()
        gc.freeze()
        # Rows are read by the million, and hardly any object is in a cycle.
        gc.set_threshold(GC_OBJECTS)
        return command


class ListingGroup(click.Group):
    """A group whose help lists its commands by sections; a long summary continues on the next line."""

    named_above: Collection[str] = ()
    """The commands that its lists leave out."""

    def lines(self, ctx: click.Context) -> Iterator[tuple[str, str, str]]:
        """(section, name, summary) of every command, in the order of the listing."""
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                yield "Commands", name, command.get_short_help_str(SUMMARY_LENGTH)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Raises UsageError, which names the nearest command."""
        known, given = self.list_commands(ctx), args[0]
        if given not in known and not given.startswith("-") and not ctx.resilient_parsing:
            from difflib import get_close_matches

            near = get_close_matches(given, known, n=1)
            near += [name for name in (SYNONYMS.get(given),) if name in known]
            advice = f"  Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"No such command {given!r:.80}.{advice}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        lines = [line for line in self.lines(ctx) if line[1] not in self.named_above]
        longest = max(len(name) for _, name, _ in lines)
        for section in dict.fromkeys(section for section, _, _ in lines):
            with formatter.section(section):
                formatter.write_dl([(name.ljust(longest), summary) for of, name, summary in lines if of == section])


class OutputClosed(Exception):
    """The reader of the output, such as head or less, has closed it."""


@contextmanager
def _told_when_closed() -> Iterator[None]:
    """Raise OutputClosed where click would end the process as if something had failed."""
    try:
        yield
    except BrokenPipeError as error:
        raise OutputClosed from error


class LazyGroup(ListingGroup):
    """A group of :class:`LazyCommand`; its help and the completion of their names import none of them."""

    def __init__(
        self, *args: object, table: Mapping[str, LazyCommand], named_above: Collection[str] = (), **options: object
    ) -> None:
        """``named_above``: commands that the text of the help names; its lists have the others."""
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self.table, self.named_above = dict(table), named_above

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        with _told_when_closed():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> object:
        with _told_when_closed():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        lazy = self.table.get(cmd_name)
        return lazy.load() if lazy else None

    def lines(self, ctx: click.Context) -> Iterator[tuple[str, str, str]]:
        for name, lazy in self.table.items():
            yield lazy.section, name, lazy.short_help

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        options = click.Command.shell_complete(self, ctx, incomplete)
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return [*(CompletionItem(name, help=self.table[name].short_help) for name in names), *options]
