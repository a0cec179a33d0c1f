"""The pages to look things up say what the code says: messages, exit codes, variables, terms, the Python API."""

from __future__ import annotations

import ast
import inspect
import json
import re
from functools import cache
from pathlib import Path

import langford
from db.schema.models import Base
from docs.scripts import ledger_dictionary, python_api
from langford import irregular
from langford.cli.exit_codes import ExitCode
from langford.methods import METHODS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MODULES = [file for folder in ("langford", "db", "jobs", "slurm") for file in (ROOT / folder).rglob("*.py")]


def rows(page: str, heading: str = "") -> list[list[str]]:
    """The rows of all tables of a page, or of those below a heading, without their heads."""
    text = (DOCS / page).read_text()
    found = re.findall(r"^\|(.*)\|$", text[text.index(heading) :], re.MULTILINE)
    cells = [[cell.strip() for cell in row.split("|")] for row in found]
    rules = [number for number, row in enumerate(cells) if set(row[0]) == {"-"}]
    return [row for number, row in enumerate(cells) if number not in rules and number + 1 not in rules]


# -- messages ---------------------------------------------------------------------------------


def template(node: ast.expr) -> str:
    """The text of a string in the code; "…" for each value that is put into it."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else "…"
    if isinstance(node, ast.JoinedStr):
        return "".join(map(template, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return template(node.left) + template(node.right)
    return "…"


@cache
def texts() -> str:
    """The strings in the code, each on lines of its own."""
    found = {
        template(node).replace("`", "")
        for file in MODULES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.expr)
    }
    return "\n".join(found)


QUOTED = [row[0].strip("`") for row in rows("operations.md", "## Messages")]


def stands_in_the_code(message: str) -> bool:
    """Whether the program has this message, "…" standing for any text."""
    parts = message.strip("…").split("…")
    return re.search(".*".join(map(re.escape, parts)), texts()) is not None


def test_every_message_of_troubleshooting_stands_in_the_code() -> None:
    assert [message for message in QUOTED if not stands_in_the_code(message)] == []


def test_other_messages_do_not_stand_in_the_code() -> None:
    assert len(QUOTED) >= 30
    assert not any(stands_in_the_code(f"{message} at once, quickly") for message in QUOTED)


# -- exit codes, variables, terms -------------------------------------------------------------


def test_the_page_of_exit_codes_is_that_of_the_code() -> None:
    shown = {row[1].strip("`"): row for row in rows("command-line.md") if len(row) == 4}
    meanings = inspect.cleandoc(ExitCode.__doc__ or "").partition("Attributes:\n")[2]
    described = dict(re.findall(r"^    (\w+): ((?:.|\n {8,})*)", meanings, re.MULTILINE))
    assert {*shown} - {""} == {*ExitCode.__members__} == {*described}
    for name, code in ExitCode.__members__.items():
        meaning = " ".join(described[name].split())
        assert int(shown[name][0]) == code
        assert meaning.startswith(shown[name][2]), name
    assert shown[""][0] == "128 + N"


def test_the_page_of_the_command_line_names_all_variables() -> None:
    code = "\n".join(file.read_text() for file in MODULES)
    used = set(re.findall(r"\"(LANGFORD_\w+|XDG_\w+)\"", code))
    assert {"LANGFORD_LEDGER", "LANGFORD_JOIN", "XDG_CACHE_HOME"} <= used
    table = {name for row in rows("command-line.md") for name in re.findall(r"`(\w+)`", row[0])}
    assert used <= table


def test_the_page_of_methods_names_all_methods() -> None:
    assert [row[0].strip("`") for row in rows("methods.md")] == list(METHODS)


def test_the_terms_of_the_glossary_are_sorted_and_told_once() -> None:
    terms = [row[0] for row in rows("design.md", "## Words") if len(row) == 3]
    terms = terms[: terms.index("zero bits") + 1]
    assert terms == sorted(set(terms), key=str.lower)
    assert len(terms) >= 20


# -- the Python API ---------------------------------------------------------------------------


def test_the_page_of_the_api_describes_every_public_name() -> None:
    page = python_api.page()
    headings = re.findall(r"^## ([\w.]+)$", page, re.MULTILINE)
    public = {name: getattr(langford, name) for name in langford.__all__ if name != "__version__"}
    public |= {f"irregular.{name}": getattr(irregular, name) for name in irregular.__all__}
    assert headings == list(public)
    for value in public.values():
        summary = (inspect.getdoc(value) or "").splitlines()[0]
        assert re.split(r" \(|:\w+:`", summary)[0].rstrip(". ") in page
    assert ">>> langford.count(8)\n<Count L(2,8) = 150>\n" in page
    assert '| `problem` | a Problem, n for L(2, n), or words like "near-skolem 12 missing 5"' in page


def test_a_signature_says_what_a_function_takes() -> None:
    page = python_api.page()
    assert "langford.count(problem, method=None, device='cpu'" in page
    assert "console=Console, *, identity=None, outbox=None, pool_of=WorkerPool," in page


# -- the ledger -------------------------------------------------------------------------------


def test_the_dictionary_knows_every_column_of_every_table() -> None:
    known = {section.name: [name for name, _, _ in section.columns] for section in ledger_dictionary.tables()}
    assert {name: sorted(names) for name, names in known.items()} == {
        table.name: sorted(table.columns.keys()) for table in Base.metadata.tables.values()
    }
    for section in (*ledger_dictionary.tables(), *ledger_dictionary.views()):
        assert section.summary.endswith(".")
        for _, _, words in section.columns:
            assert re.fullmatch(r"\S.*\.", words)
            assert ":class:" not in words
            assert "None" not in words


def test_datasette_shows_the_texts_of_the_page() -> None:
    described = json.loads(ledger_dictionary.metadata())["databases"]["langford"]["tables"]
    page = ledger_dictionary.page()
    assert {"task_overview", "worker", "event"} < described.keys()
    for name, entry in described.items():
        assert f"### {name}\n\n{entry['description']}\n" in page
        for column, words in entry["columns"].items():
            assert re.search(rf"^\| `{column}` \|.* {re.escape(words)} \|$", page, re.MULTILINE)
