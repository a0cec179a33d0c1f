"""What users write nearly right, and odd surroundings: understood, or answered by one line with the right form."""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.reach.join import Join
from jobs.verify.statement import Statement
from tests.cli.test_statement import stated
from tests.support.command_line import Run
from tests.support.joins import join_file


def test_a_scheme_may_be_in_capitals(langford: Run, tmp_path: Path) -> None:
    done = langford("status", join_file(tmp_path, "HTTP://127.0.0.1:9/eight", "token"))
    assert "there is no ledger" not in done.stderr
    assert "127.0.0.1:9" in done.stderr


def test_an_address_to_listen_on_may_have_brackets(langford: Run) -> None:
    """This machine, so that no encryption is asked for; then the campaign is missing."""
    done = langford("serve", "nobody", "--host", "[::1]")
    assert done.returncode == 2
    assert "without encryption" not in done.stderr
    assert "there is no ledger" in done.stderr


def test_a_byte_order_mark_at_the_start_of_a_file_is_no_content(tmp_path: Path) -> None:
    file = Path(join_file(tmp_path, "http://farm:8765/eight", "secret-token"))
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes().replace(b"\n", b"\r\n"))
    assert Join.read(file).token == "secret-token"
    file = tmp_path / "statement"
    statement = stated()
    file.write_bytes(b"\xef\xbb\xbf" + statement.to_text().encode())
    assert Statement.read(file) == statement


@pytest.mark.parametrize(("variable", "value"), [("NUMBA_NUM_THREADS", "0")])
def test_a_variable_that_keeps_numba_from_compiling_is_named(langford: Run, variable: str, value: str) -> None:
    done = langford("count", "8", variables={variable: value})
    assert done.returncode == 2
    assert variable in done.stderr
    assert "unset it" in done.stderr
    assert len(done.stderr.splitlines()) == 1
