"""A name of a class means one thing in the whole program."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("langford", "db", "jobs", "slurm")
SEVERAL = {
    # What programs use, its base in db, and its table; a campaign is also what workers reach in any way.
    "Campaign": {"langford/ledger.py", "db/campaign/campaign.py", "db/schema/models.py", "jobs/reach/campaign.py"},
    "Ledger": {"langford/ledger.py", "db/ledger.py", "db/schema/models.py"},
}
"""The nouns that several floors have, each as it sees them."""


@pytest.mark.exhaustive
def test_no_two_classes_have_the_same_name() -> None:
    modules = defaultdict[str, list[str]](list)
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.ClassDef):
                    modules[node.name.lstrip("_")].append(file.relative_to(ROOT).as_posix())
    assert {name: set(files) for name, files in modules.items() if len(files) > 1} == SEVERAL
