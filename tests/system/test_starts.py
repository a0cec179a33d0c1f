"""What a start loads: whoever needs no kernel, no database or no network does not wait for them."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from db import Ledger
from tests.support.command_line import ENVIRONMENT

SLOW = {
    "alembic", "cupy", "http.client", "httpx", "importlib.metadata", "jobs.reach.remote", "langford.cli.counting",
    "matplotlib", "mpi4py", "msgspec", "numba", "numpy", "rich", "rich.console", "scipy", "sqlalchemy",
    "sqlalchemy.dialects.postgresql", "sqlalchemy.orm", "starlette", "uvicorn",
}  # fmt: skip
STARTS: dict[str, dict[str, set[str]]] = {
    "without a ledger": {
        "import langford": set(),
        "--version": set(),
        "--help": set(),
        "import langford.methods": {"msgspec"},
        "irregular --help": {"importlib.metadata"},
        "work --help": set(),
        "list 4": set(),
        "draw --cubes 3,1,2,1,3,2": {"rich", "rich.console"},
        "draw 12": set(),
        "import jobs.reach.remote": {"jobs.reach.remote"},
    },
    "with kernels": {
        "mpi --help": {"msgspec", "importlib.metadata", "numpy"},
        "count 8": {"langford.cli.counting", "numba"},
    },
    "with a ledger": {
        "import langford.ledger": {"msgspec", "importlib.metadata", "sqlalchemy"},
        "run --help": set(),
        "query SELECT/**/*FROM/**/task_overview": {"rich"},
        "status": set(),
        "run 16 --dry-run": {"numpy"},
        "table langford 12 --dry-run": set(),
    },
}
"""Commands and imports, one after the other in a process, and what each of them loads that none before it does."""
PROGRAM = """
import json, os, sys
slow, steps = map(json.loads, sys.argv[1:])
said, sys.stdout = sys.stdout, open(os.devnull, "w")
loaded = [[]]
for step in steps:
    kind, *words = step.split()
    if kind == "import":
        __import__(*words)
    else:
        sys.argv = ["langford", kind, *words]
        from langford.cli.main import main
        try:
            main()
        except SystemExit as ended:
            assert not ended.code, step
    loaded.append([name for name in slow if name in sys.modules])
print(json.dumps(loaded), file=said)
"""


@pytest.mark.parametrize("kind", STARTS)
def test_a_start_loads_what_it_needs(kind: str, tmp_path: Path) -> None:
    Ledger(str(tmp_path / "langford.db"), create=True).close()
    steps = STARTS[kind]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(sorted(SLOW)), json.dumps([*steps])],
        cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    loaded = [{*names} for names in json.loads(done.stdout)]
    new = [after - before - {"scipy"} for before, after in pairwise(loaded)]  # numba looks at it, where it is
    assert dict(zip(steps, new, strict=True)) == steps
