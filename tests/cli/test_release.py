"""What a release says of itself: one version everywhere, and the checks of CI."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from langford.cli import start
from langford.problem.reference import SEQUENCES
from langford.version import __version__

ROOT = Path(__file__).parents[2]


def text_of(name: str) -> str:
    return (ROOT / name).read_text()


def released() -> list[tuple[str, str]]:
    """(version, day) of every heading of the changelog; no day: unreleased."""
    headings = re.findall(
        r"^## \[(.+?)\](?: - (?:(\d{4}-\d\d-\d\d)|not released))?$", text_of("CHANGELOG.md"), re.MULTILINE
    )
    assert len(headings) == text_of("CHANGELOG.md").count("\n## ")
    return headings


def test_the_citation_names_this_version_and_its_day() -> None:
    said = dict(re.findall(r"^(version|date-released): \"?(.*?)\"?$", text_of("CITATION.cff"), re.MULTILINE))
    day = dict(released()).get(__version__)
    assert said == {"version": __version__} | ({"date-released": day} if day else {})


def test_the_version_is_written_in_one_place() -> None:
    project = tomllib.loads(text_of("pyproject.toml"))
    assert "version" in project["project"]["dynamic"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "langford.version.__version__"}
    sources = [file for folder in ("langford", "db", "jobs", "slurm") for file in (ROOT / folder).rglob("*.py")]
    assert [file.name for file in sources if f'"{__version__}"' in file.read_text()] == ["version.py"]


def test_the_changelog_has_every_version_once_and_the_newest_first() -> None:
    numbers = [tuple(map(int, name.split("."))) for name, _ in released()]
    assert numbers == sorted(set(numbers), reverse=True)
    newest, day = released()[0]
    assert __version__ == (newest if day else f"{newest}.dev0")
    assert all(day for _, day in released()[1:])


def test_the_readme_fits_two_screens_and_begins_with_the_question() -> None:
    readme = text_of("README.md")
    assert len(readme.splitlines()) <= 128
    question = readme.split("\n\n")[1]
    assert not re.search("[`[*]|Langford|OEIS", question), "no word that has to be known before"
    published = SEQUENCES["A014552"]
    assert published.term(3) == 1
    assert f"n = 16 there are {published.term(16):,};" in " ".join(question.split())
    assert published.last < 32


def test_the_module_of_clusters_names_this_version() -> None:
    short = ".".join(__version__.split(".")[:2])
    module = text_of("docs/examples/langford.lua")
    assert f'whatis("Version: {short}")' in module
    assert f'local root = "/software/langford/{short}"' in module
    assert f"modulefiles/langford/{short}.lua" in text_of("docs/where-it-runs.md")


def test_on_windows_one_line_says_what_to_use(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(SystemExit) as ended:
        start.main()
    said = capsys.readouterr()
    assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert "WSL" in said.err
    assert "WSL" in text_of("README.md")
