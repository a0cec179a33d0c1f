"""The README's blocks do what they show; "..." in a console block stands for any further lines."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from tests.command_line import Run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
PYTHON = "".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL))


@pytest.mark.parametrize("block", BLOCKS)
def test_console_blocks(langford: Run, tmp_path: Path, block: str) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "campaigns").symlink_to(ROOT / "jobs" / "campaigns")
    for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *expected = session.splitlines()
        program, *arguments = shlex.split(command)
        assert program == "langford"
        done = langford(*arguments)
        assert done.returncode == 0, done.stderr
        shown = done.stdout.splitlines()
        if expected and expected[-1] == "...":
            expected.pop()
            shown = shown[: len(expected)]
        assert [line.rstrip() for line in shown] == expected


def test_python_blocks() -> None:
    """One after the other, as one session."""
    session = doctest.DocTestParser().get_doctest(PYTHON, {}, "README", "README.md", 0)
    outcome = doctest.DocTestRunner().run(session)
    assert outcome.attempted >= 8
    assert not outcome.failed


def test_there_are_blocks_to_check() -> None:
    assert len(BLOCKS) >= 2
