"""The blocks of all pages do what they show.

A block of the console or of Python is run, in the order of its page; "..." stands for any further lines, and
"…" for any characters.  What a test cannot run says why in a comment before the block: <!-- needs: gpu -->, a
cluster, hours, or packages to install; whether that is so is tested too, and that its commands exist.
"""

from __future__ import annotations

import doctest
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from langford.kernels.gpu.runtime import NoGpu, describe_gpus
from tests.support.cases import exhaustive
from tests.support.databases import fresh_database
from tests.support.pages import BLOCK, PAGES, ROOT, Block, Shell, blocks, command_of, parse
from tests.support.ports import free_port
from tests.support.preloaded import ALONE, Preparation

README = ROOT / "README.md"
CONSOLE = {page: [block for block in blocks(page) if block.language == "console"] for page in PAGES}
RUN = [page for page, shown in CONSOLE.items() if not all(block.needs for block in shown)]
MARKED = [(page.name, block) for page in PAGES for block in blocks(page) if block.needs]
DATABASE = "postgresql://host/langford"
PORT = "8765"
MANY_COLOURS = 24
"""A count of so many takes hours of a core."""


def names(pages: list[Path]) -> list[str]:
    return [page.stem for page in pages]


def run(page: Path, shown: list[Block], folder: Path, prepare: Preparation | None = None) -> None:
    """Run console blocks in one shell and compare what they print; ``prepare``: its commands."""
    replace = {PORT: str(free_port())}
    if any(DATABASE in block.text for block in shown):
        replace[DATABASE] = fresh_database("postgres", folder)
    shell = Shell(folder, replace, prepare)
    (folder / "work" / "jobs").symlink_to(ROOT / "jobs")
    (folder / "work" / "docs").symlink_to(ROOT / "docs")
    try:
        steps = [step for block in shown for step in block.steps]
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            code, printed, errors = shell.run(step.command)
            asked = following is not None and following.command == "echo $?"
            assert asked or code == 0, f"{page.name}: {step.command}\nexit code {code}\n{printed}\n{errors}"
            for text, here in replace.items():
                printed = printed.replace(here, text)
            assert step.matches(printed), f"{page.name}: {step.command}\n{printed}\nis not\n{step.output}\n{errors}"
    finally:
        shell.stop()


@pytest.mark.parametrize(
    "page", [page if page == README else exhaustive([page])[0] for page in RUN], ids=names(RUN)
)
def test_console_blocks(page: Path, tmp_path: Path) -> None:
    """What other pages show are commands that have tests of their own; they evaluate their tasks themselves."""
    shown = [block for block in CONSOLE[page] if not block.needs]
    run(page, shown, tmp_path, None if page == README else ALONE)


FOR_A_GPU = [page for page, shown in CONSOLE.items() if any(block.needs == "gpu" for block in shown)]


@pytest.mark.gpu
@pytest.mark.parametrize("page", FOR_A_GPU, ids=names(FOR_A_GPU))
def test_console_blocks_for_a_gpu(page: Path, tmp_path: Path) -> None:
    shown = [block for block in CONSOLE[page] if block.needs == "gpu"]
    try:
        describe_gpus()
    except NoGpu as error:
        pytest.skip(f"needs a GPU: {error}")
    run(page, shown, tmp_path)


PYTHON = {
    page: [block.text for block in blocks(page) if block.language == "python" and not block.text.startswith("# ")]
    for page in PAGES
}
WITH_PYTHON = [page for page, texts in PYTHON.items() if texts]


@pytest.mark.parametrize("page", WITH_PYTHON, ids=names(WITH_PYTHON))
def test_python_blocks(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, as one session."""
    monkeypatch.chdir(tmp_path)
    session = doctest.DocTestParser().get_doctest("".join(PYTHON[page]), {}, page.name, str(page), 0)
    outcome = doctest.DocTestRunner().run(session)
    assert outcome.attempted >= 1
    assert not outcome.failed


def test_there_are_blocks_to_check() -> None:
    assert README in RUN
    assert README in WITH_PYTHON
    assert sum(len(CONSOLE[page]) for page in RUN) >= 20


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_commands_stand_in_blocks_that_are_run(page: Path) -> None:
    for block in blocks(page):
        assert block.language, f"say what it is: {block.text}"
        assert block.language not in ("sh", "bash", "shell"), f"make it a console block: {block.text}"
        assert not block.needs or block.language == "console"
        shows_a_command = re.search(r"^\$? ?langford ", block.text, re.MULTILINE)
        assert block.language == "console" or not shows_a_command, block.text


# -- what is not run --------------------------------------------------------------------------


def is_for_a_gpu(block: Block) -> bool:
    return all("cuda" in words or words[0] in ("tune", "doctor") for words in block.calls)


def is_for_a_cluster(block: Block) -> bool:
    return all(re.search(r"\b(slurm|srun|sbatch|squeue)\b", step.command) for step in block.steps)


def takes_hours(block: Block) -> bool:
    numbers = [int(word) for words in block.calls for word in words if word.isdecimal()]
    return max(numbers, default=0) >= MANY_COLOURS


def installs(block: Block) -> bool:
    programs = r"(python3? -m )?([\w./]*\bpip (install|wheel)|venv|mkdocs serve)\b"
    return all(re.match(programs, step.command) for step in block.steps)


def is_for_containers(block: Block) -> bool:
    return all(step.command.startswith("podman ") for step in block.steps)


REASONS: dict[str, Callable[[Block], bool]] = {
    "gpu": is_for_a_gpu,
    "cluster": is_for_a_cluster,
    "container": is_for_containers,
    "hours": takes_hours,
    "install": installs,
}


@pytest.mark.parametrize(("page", "block"), MARKED, ids=[f"{page}-{block.needs}" for page, block in MARKED])
def test_what_is_not_run_is_marked_with_the_reason(
    page: str, block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert REASONS[block.needs](block), block.text
    # The files that it names need not exist here.
    monkeypatch.setattr(click.Path, "convert", lambda self, value, param, ctx: Path(value))
    # Inside a container the program is the image: tests/system/test_containers.py reads such calls.
    for words in block.calls if block.needs != "container" else ():
        parse(words)


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_commands_between_the_lines_exist(page: Path) -> None:
    """Names and numbers in them are often left open; commands and options must be right."""
    prose = BLOCK.sub("", page.read_text())
    for command in re.findall(r"`(langford [^`]+)`", prose):
        words = command.split()[1:]
        if words[0].isupper() or words[0].startswith("-"):
            continue
        options = {name for parameter in command_of(words)[0].params for name in parameter.opts}
        wanted = {word.partition("=")[0] for word in words if word.startswith("--")} - {"--help"}
        assert wanted <= options, command


def test_what_is_installed_exists() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    pattern = re.compile(r"pip install (?:-e )?'\S*?\[([\w,]+)\]")
    named = ",".join(names for page in PAGES for names in pattern.findall(page.read_text()))
    assert {"test", "docs"} < set(named.split(",")) <= set(extras)


# -- what they stand for ----------------------------------------------------------------------
