"""The page of all commands, from the commands themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

import click

from langford.cli.main import cli

HEAD = """## All commands

Generated from the program, which prints the same with `--help`.
"""


@dataclass(frozen=True)
class Entry:
    """A command with its place in the program.

    Attributes:
        words: what is typed to call it, like ("langford", "slurm", "keep").
        section: the heading under which `langford --help` lists it, or its group.
        command: the command.
    """

    words: tuple[str, ...]
    section: str
    command: click.Command

    @property
    def context(self) -> click.Context:
        """A context in which it can describe itself."""
        return click.Context(self.command, info_name=" ".join(self.words))


def entries() -> Iterator[Entry]:
    """All commands that do something, those of groups included, in the order of `langford --help`."""
    for section, name, _ in cli.lines(click.Context(cli)):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        yield from _below(Entry(("langford", name), section, command))


def _below(entry: Entry) -> Iterator[Entry]:
    """The entry itself, or the commands of a group."""
    if not isinstance(entry.command, click.Group):
        yield entry
        return
    shown = ((name, each) for name, each in entry.command.commands.items() if not each.hidden)
    for name, command in shown:
        yield from _below(Entry((*entry.words, name), entry.section, command))


def page() -> str:
    """The page, as Markdown."""
    parts, section = [HEAD], ""
    for entry in entries():
        if entry.section != section:
            section = entry.section
            parts.append(f"## {section}\n")
        parts += _description(entry)
    return "\n".join(parts)


def _description(entry: Entry) -> Iterator[str]:
    """The parts of the page about one command.  What is written as code keeps its bars: no cell ends in code."""
    command, context = entry.command, entry.context
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"### {' '.join(entry.words)}\n\n```text\n{' '.join(entry.words)} {usage}\n```\n"
    yield inspect.cleandoc(command.help or "").replace("\b\n", "") + "\n"
    yield "| option | what it does |\n|---|---|"
    yield "\n".join(f"| `{names}` | {_cell(words)} |" for names, words in _options(entry)) + "\n"
    if command.epilog:
        yield f"```text\n{inspect.cleandoc(command.epilog).replace(chr(8), '').strip()}\n```\n"


def _options(entry: Entry) -> Iterator[tuple[str, str]]:
    """(how it is written, what it does) of every option, and of the arguments that have a description."""
    for parameter in entry.command.params:
        written, words = parameter.get_help_record(entry.context) or ("", "")
        if words or written.startswith("-"):
            yield written, words


def _cell(text: str) -> str:
    """Text in a cell of a table."""
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")
