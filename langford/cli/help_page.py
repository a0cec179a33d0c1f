"""The text of ``--help`` in the width of the terminal."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from textwrap import wrap

import click
from click.formatting import measure_table

LEAST_WIDTH = 38
"""Characters of a line on the narrowest terminal, which has 40 columns; click itself takes 50 for the least."""
TEXT_WIDTH = 20
"""What stands beside a term has as many characters in a line; else it stands below the term."""
DEEPER = 4
"""By how many blanks a text below its term, or the rest of an example, is indented."""
UNWRAPPED = "\b"
"""How click marks a paragraph whose lines stay apart: examples, or terms with what they mean."""
ROW = re.compile(r"( *\S+(?: \S+)*)(  +)(\S.*)")
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


class HelpPage(click.HelpFormatter):
    """Wraps also the lines and tables that click leaves as they are."""

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        super().__init__(indent_increment, width, max_width)
        if width is None:
            self.width = min(self.width, max(shutil.get_terminal_size().columns - 2, LEAST_WIDTH))

    def write_text(self, text: str) -> None:
        room = self.width - self.current_indent
        paragraphs = text.split("\n\n")
        for index, paragraph in enumerate(paragraphs):
            if paragraph.lstrip(" \n").startswith(UNWRAPPED):
                lines = (part for line in paragraph.splitlines() for part in _fitted(line, room))
                paragraphs[index] = "\n".join(lines)
        super().write_text("\n\n".join(paragraphs))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        indent = self.current_indent
        table = [(_broken_at_bars(term, self.width - indent, indent), text) for term, text in rows]
        widest, *_ = measure_table(table)
        if self.width - indent - min(widest, col_max) - col_spacing >= TEXT_WIDTH:
            super().write_dl(table, col_max, col_spacing)
            return
        below = " " * (indent + DEEPER)
        for term, text in table:
            lines = wrap(text, self.width, initial_indent=below, subsequent_indent=below)
            self.write("\n".join([" " * indent + term.rstrip(), *lines]) + "\n")


def _fitted(line: str, room: int) -> list[str]:
    """The lines for one line of an unwrapped paragraph; what is typed remains so with a backslash."""
    if len(line) <= room:
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + DEEPER)
    row = ROW.fullmatch(line)
    if row is None:
        kept = QUOTED.sub(lambda quoted: quoted[0].replace(" ", "\0"), line)
        *others, last = wrap(
            kept, room - 2, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        return [part.replace("\0", " ") for part in (*(f"{other} \\" for other in others), last)]
    term, blanks, text = row.groups()
    beside = " " * len(term + blanks)
    if room - len(beside) < TEXT_WIDTH:
        return [term, *wrap(text, room, initial_indent=indent, subsequent_indent=indent)]
    return wrap(text, room, initial_indent=term + blanks, subsequent_indent=beside)


def _broken_at_bars(term: str, room: int, indent: int) -> str:
    """A term that is too long for a line, like --method [miller|regular|...], in several."""
    if len(term) <= room:
        return term
    deeper = " " * DEEPER
    lines = wrap(term.replace("|", "| "), room, subsequent_indent=deeper, break_on_hyphens=False)
    return f"\n{' ' * indent}".join(line.replace("| ", "|") for line in lines)
