"""The pages of the project, their blocks of code, and a shell that runs them."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import click

from langford.cli.main import cli
from tests.support.command_line import ENVIRONMENT
from tests.support.preloaded import Preparation, preloaded

ROOT = Path(__file__).parents[2]
DESIGN = (ROOT / "docs" / "design.md").read_text()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(?:^<!-- needs: (?P<needs>.*?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
COMMAND_SECONDS = 240.0


def table(heading: str) -> list[list[str]]:
    """The rows of the first table below a heading of the design page, without its head; code marks removed."""
    below = DESIGN.split(f"# {heading}\n", 1)[1]
    rows = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    assert rows is not None
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in rows[0].splitlines()[2:]]


@dataclass(frozen=True)
class Block:
    """A block of code on a page.

    Attributes:
        language: what stands behind the three backticks.
        text: its lines.
        needs: what it needs that a test has not, from the comment before it; empty when it is run by a test.
    """

    language: str
    text: str
    needs: str

    @property
    def steps(self) -> list[Step]:
        """The commands of a console block."""
        sessions = re.split(r"^\$ ", self.text, flags=re.MULTILINE)
        assert not sessions[0], f"a console block begins with a command: {self.text}"
        return [Step.of(session) for session in sessions[1:]]

    @property
    def calls(self) -> list[list[str]]:
        """The words of every call of langford in a console block."""
        lines = [re.split(r"\blangford ", step.command, maxsplit=1) for step in self.steps]
        return [
            shlex.split(line[1].replace("\\\n", "").rstrip("& "), comments=True) for line in lines if len(line) == 2
        ]


@dataclass(frozen=True)
class Step:
    """A command in a console block, and what the page says that it prints.

    Attributes:
        command: as it is typed, on one line or several.
        output: the lines of its output; "..." stands for any lines, "…" for any characters.
    """

    command: str
    output: str

    @classmethod
    def of(cls, session: str) -> Step:
        """The step in a part of a block, from behind the prompt to the next one."""
        command, _, output = session.partition("\n")
        while command.endswith("\\"):
            line, _, output = output.partition("\n")
            command += f"\n{line}"
        return cls(command, output)

    def matches(self, printed: str) -> bool:
        """Whether the command printed what the page shows."""
        lines = []
        for line in self.output.splitlines():
            words = (re.escape(part) for part in line.split("…"))
            lines.append("(?:.*\n)*" if line == "..." else f"{'.*'.join(words)} *\n")
        ended = printed if printed.endswith("\n") or not printed else f"{printed}\n"
        return re.fullmatch("".join(lines), ended) is not None


def blocks(page: Path) -> list[Block]:
    """The blocks of a page, in order."""
    text = page.read_text()
    shown = [Block(match["language"], match["text"], match["needs"] or "") for match in BLOCK.finditer(text)]
    assert 2 * len(shown) == len(re.findall("^ *```", text, re.MULTILINE)), f"{page.name}: a block is open"
    return shown


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that the words call, and the words that are left for it."""
    command: click.Command = cli
    while isinstance(command, click.Group) and words:
        below = command.get_command(click.Context(command), words[0])
        assert below is not None, words
        command, words = below, words[1:]
    return command, words


def parse(words: list[str]) -> None:
    """Let the command line read a call without doing it; raises click.UsageError."""
    command, arguments = command_of(words)
    command.make_context("langford", list(arguments))


class Shell:
    """A bash in a folder, with ``langford`` on its path: the commands of a page, one after the other."""

    def __init__(
        self, folder: Path, replace: dict[str, str], prepare: Preparation | None = None, **variables: str
    ) -> None:
        """
        Args:
            folder: for all that it writes.
            replace: texts of the pages, like a port, and what takes their place here.
            prepare: its commands, see :data:`Preparation`.
            variables: of its environment, besides the usual ones.
        """
        self._folder, self._replace = folder / "work", replace
        self._folder.mkdir()
        programs = preloaded().program_for(folder / "programs", prepare).parent
        kept = {name: value for name, value in ENVIRONMENT.items() if not name.startswith("LANGFORD_")}
        cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        home = folder / "home"
        home.mkdir()
        environment = {
            **kept,
            "PATH": f"{programs}:{Path(sys.executable).parent}:{kept['PATH']}",
            "HOME": str(home),
            "XDG_CACHE_HOME": cache,
            **variables,
        }
        self._bash = subprocess.Popen(
            ["bash", "--norc"],
            cwd=self._folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._number, self._code = 0, 0

    def run(self, command: str) -> tuple[int, str, str]:
        """(exit code, output, errors) of a command; "$?" in it is the exit code of the one before."""
        for text, here in self._replace.items():
            command = command.replace(text, here)
        self._number += 1
        script, out, errors, ended = (
            self._folder.parent / f"{self._number}.{kind}" for kind in ("sh", "out", "err", "rc")
        )
        script.write_text(f"{command}\n")
        assert self._bash.stdin is not None
        called = f"(exit {self._code}); . {script} >{out} 2>{errors} </dev/null"
        self._bash.stdin.write(f"{called}; echo $? >{ended}.new; mv {ended}.new {ended}\n")
        self._bash.stdin.flush()
        deadline = time.monotonic() + COMMAND_SECONDS
        while not ended.exists():
            assert time.monotonic() < deadline, (command, out.read_text(), errors.read_text())
            assert self._bash.poll() is None, command
            time.sleep(0.01)
        self._code = int(ended.read_text())
        return self._code, out.read_text(), errors.read_text()

    def stop(self) -> None:
        """End it, with everything that it started."""
        os.killpg(self._bash.pid, signal.SIGKILL)
        self._bash.communicate()
