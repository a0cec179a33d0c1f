"""Results of a ledger that is really damaged: pages are overwritten, bits flipped, the end is cut."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from db import Ledger, read_export
from db.files.salvage import salvaged
from langford.errors import LangfordError
from langford.result import PartialResult
from tests.support.command_line import Run

PAGE = 4096
NAME = "twelve"


@pytest.fixture
def file(langford: Run, tmp_path: Path) -> Path:
    assert langford("run", "12", "--method", "polyphase", "--depth", "12", "--name", NAME).returncode == 0
    return tmp_path / "langford.db"


@pytest.fixture
def true(file: Path) -> set[PartialResult]:
    """All results, before the damage."""
    with Ledger(str(file)) as ledger:
        return {*ledger.campaign(NAME).reader.results()}


def changed(file: Path, chance: random.Random, number: int) -> None:
    """Flip some bits behind the header of the file."""
    content = bytearray(file.read_bytes())
    for _ in range(number):
        content[chance.randrange(100, len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


def test_all_but_the_damaged_pages_is_imported_by_another_ledger(
    langford: Run, file: Path, true: set[PartialResult], tmp_path: Path
) -> None:
    with closing(sqlite3.connect(file)) as database:
        leaves = "SELECT pageno FROM dbstat WHERE name = 'result' AND pagetype = 'leaf'"
        pages = database.execute(leaves).fetchall()
    with file.open("r+b") as stream:
        for (page,) in pages[::2]:
            stream.seek((page - 1) * PAGE)
            stream.write(b"\xff" * PAGE)
    assert "langford export NAME --damaged" in langford("export", NAME).stderr
    done = langford("export", NAME, "--damaged", "--out", "saved.jsonl.gz")
    assert f"of {len(true)} results of {NAME} in saved.jsonl.gz" in done.stdout
    saved = {evaluation.result for evaluation in read_export(tmp_path / "saved.jsonl.gz").results}
    assert len(true) / 4 < len(saved) < len(true)
    assert saved < true
    assert langford("import", "saved.jsonl.gz", "--ledger", "new.db").returncode == 0
    assert "= 108,144" in langford("run", NAME, "--ledger", "new.db").stdout


@pytest.mark.parametrize("is_cut", [False, True])
def test_flipped_bits_give_true_results_or_one_line(file: Path, true: set[PartialResult], is_cut: bool) -> None:
    whole, chance, saved = file.read_bytes(), random.Random(7), 0
    for flips in [1, 3, 10, 30, 100, 300] * 4:
        file.write_bytes(whole[: chance.randrange(len(whole)) if is_cut else len(whole)])
        changed(file, chance, flips)
        with suppress(LangfordError):
            results = {evaluation.result for evaluation in salvaged(file, NAME).results}
            assert results <= true
            saved += len(results)
    assert saved
