"""What the commands say of themselves: help, examples, versions, completion, JSON."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from docs.scripts.commands import Entry, entries, page
from langford import __version__
from langford.cli.main import COMMANDS, NAMED_ABOVE, cli
from langford.provenance import kernel_hash
from tests.support.command_line import ENVIRONMENT, write_program

ENTRIES = {" ".join(entry.words): entry for entry in entries()}
GROUPS = [["--help"], ["slurm", "--help"], ["ledger", "--help"]]
NO_RESULTS = {"langford serve"}
"""Commands that print no result, but hand out tasks until they are stopped."""


def examples(entry: Entry) -> list[str]:
    """The commands under "Examples:" in the help of a command, as they would be typed."""
    below = inspect.cleandoc(entry.command.epilog or "").partition("Examples:\n")[2]
    block = below.split("\n\n")[0].replace("\\\n", "")
    return [" ".join(line.split()) for line in block.splitlines()]


def summaries(arguments: list[str]) -> dict[str, str]:
    """The summary of every command that a group's help lists."""
    group: click.Command = cli
    for name in arguments[:-1]:
        assert isinstance(group, click.Group)
        found = group.get_command(click.Context(group), name)
        assert found is not None
        group = found
    assert isinstance(group, click.Group)
    names = group.list_commands(click.Context(group))
    commands = {name: group.get_command(click.Context(group), name) for name in names}
    return {
        name: command.get_short_help_str(1000)
        for name, command in commands.items()
        if command and not command.hidden
    }


@pytest.mark.parametrize("arguments", GROUPS, ids=" ".join)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_summary_is_cut_off(arguments: list[str], width: int) -> None:
    shown = CliRunner().invoke(cli, arguments, terminal_width=width).output
    words = " ".join(shown.split())
    above = NAMED_ABOVE if len(arguments) == 1 else ()
    listed = {name: summary for name, summary in summaries(arguments).items() if name not in above}
    assert all(f"{name} {summary}" in words for name, summary in listed.items())
    listing = re.split(r"^(?:Commands|Campaigns):\n", shown, flags=re.MULTILINE)[1]
    assert max(map(len, listing.splitlines())) <= width
    assert "..." not in listing


def test_the_commands_are_grouped() -> None:
    shown = CliRunner().invoke(cli, ["--help"]).output
    assert re.findall(r"^(\w+):$", shown, re.MULTILINE) == [*("Options", "Campaigns", "Farm", "Cluster", "Explore")]
    above, _, below = shown.partition("Options:")
    first = re.findall(r"^  langford ([a-z]+) ", above, re.MULTILINE)
    assert len(first) == 10
    listed = re.findall(r"^  ([a-z]+) +[A-Z]", below, re.MULTILINE)
    assert {*first, *listed, "work", "irregular"} == {*COMMANDS}
    assert listed == [name for name in COMMANDS if name in listed]


@pytest.mark.parametrize("width", [40, 60, 80])
def test_the_help_is_no_wider_than_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    listing = Entry(("langford",), "", cli)
    for entry in (listing, *ENTRIES.values()):
        shown = entry.context.get_help()
        wide = [line for line in shown.splitlines() if len(line) > width]
        # A word stays whole: an address, or a query in its quotes.
        assert all(len(shlex.split(line.rstrip("\\"))) == 1 for line in wide), wide
        as_typed = " ".join(shown.replace("\\\n", "").split())
        assert all(example in as_typed for example in examples(entry))


@pytest.mark.parametrize("name", ENTRIES)
def test_the_examples_of_a_command_are_right(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The files of the examples need not exist here.
    monkeypatch.setattr(click.Path, "convert", lambda self, value, param, ctx: Path(value))
    shown = examples(ENTRIES[name])
    assert shown, f"{name} has no examples"
    for line in shown:
        before, found, after = f"{line} ".partition(f"{name} ")
        assert found, line
        assert not re.search(r"\blangford\b", before), line
        ENTRIES[name].command.make_context(name, shlex.split(after))


@pytest.mark.parametrize("name", sorted(set(ENTRIES) - NO_RESULTS))
def test_a_command_that_prints_results_can_print_json(name: str) -> None:
    assert "--json" in [option for parameter in ENTRIES[name].command.params for option in parameter.opts]


def test_the_page_of_commands_describes_every_command_and_option() -> None:
    sections = dict(zip(*[iter(re.split(r"^### (.*)\n", page(), flags=re.MULTILINE)[1:])] * 2, strict=True))
    assert list(sections) == list(ENTRIES)
    assert {name.split()[1] for name in sections} == set(COMMANDS)
    for name, text in sections.items():
        described = re.findall(r"^\| `(.*?)` \|", text, re.MULTILINE)
        for parameter in ENTRIES[name].command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                assert any(re.search(rf"{parameter.opts[-1]}\b", names) for names in described), parameter.opts
        words = " ".join(text.replace("\\\n", "").split())
        assert all(example in words for example in examples(ENTRIES[name]))


def test_the_version_names_the_code_that_computes() -> None:
    shown = CliRunner().invoke(cli, ["--version"])
    assert (shown.output, shown.exit_code) == (f"langford {__version__}, kernels {kernel_hash()}\n", 0)


# -- completion -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the program under its own name, as an installation puts it on the PATH."""
    folder = tmp_path_factory.mktemp("programs") / "bin"
    write_program(folder)
    return folder


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["count", "--device", ""], ["cpu", "cuda"]),
    ],
)
def test_bash_completes_commands_options_and_values(program: Path, words: list[str], offered: list[str]) -> None:
    line = " ".join(["langford", *words])
    script = f"""
        eval "$(_LANGFORD_COMPLETE=bash_source langford)"
        complete -p langford >&2
        COMP_WORDS=({shlex.join(["langford", *words])}) COMP_CWORD={len(words)} COMP_LINE={shlex.quote(line)}
        _langford_completion langford
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    environment = {**ENVIRONMENT, "PATH": f"{program}:{ENVIRONMENT['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert "-F _langford_completion langford" in done.stderr
    assert sorted(done.stdout.split()) == offered


def test_completing_the_name_of_a_command_loads_none() -> None:
    code = "\n".join(
        [
            "import sys, click",
            "from langford.cli.main import cli",
            "print([item.value for item in cli.shell_complete(click.Context(cli), 's')])",
            "print(*sorted(name for name in sys.modules if name.startswith(('langford.cli.', 'numpy', 'db'))))",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    offered, loaded = done.stdout.splitlines()
    assert offered == "['serve', 'slurm', 'status']"
    assert "langford.cli.farm.create" not in loaded
    assert "numpy" not in loaded
