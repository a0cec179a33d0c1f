"""The contracts between rooms see every import, also one inside a function."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SIXTH = "sixth"
"""A method's folder that no contract names."""
PLANTED = {
    "langford.counting": "db.ledger",
    "langford.result": "sqlalchemy",
    "db.campaign.worker": "jobs.run.loop",
    "jobs.run.loop": "slurm.keeper",
    "jobs.mpi.static": "jobs.farm.guard.access",
    "jobs.verify.second_method": "langford.cli.output.answer",
    "jobs.farm.guard.bodies": "jobs.reach.wire",
    "jobs.farm.dashboard.pages": "db.look.history",
    "jobs.pools.evaluation": "db.ledger",
    "jobs.show.wording": "starlette",
    "db.work.leases": "db.trust.draw",
    "langford.cli.options.common": "langford.cli.farm.serve",
    "langford.provenance": "langford.devices",
    "langford.problem.existence": "numba",
    "langford.methods.plan": "langford.methods",
    "langford.methods.polyphase.kernels.term": "langford.methods.polyphase.plan",
    "langford.kernels.symmetries": "langford.problem",
    "langford.methods.godfrey.cpu": "langford.methods.polyphase.tables",
    f"langford.methods.{SIXTH}.plan": "langford.methods.godfrey.tables",
    "jobs.verify.agreement": f"langford.methods.{SIXTH}.plan",
    "langford.kernels.gpu.program": "numba",
    "langford.irregular.cuda.bfs": "langford.irregular.graphs.graph",
}
"""A module, and what a function of it must not import."""
CIRCLE = ("langford.problem.existence", "langford.problem.problem")
"""The same; that problem imports existence is as it should be."""


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    if not program.exists():
        pytest.skip("needs import-linter")
    return subprocess.run(
        [program, "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(folder)},
    )


def sources(files: list[str]) -> list[str]:
    """Of a folder: modules and folders."""
    return [file for file in files if file.endswith(".py") or "." not in file]


@pytest.mark.exhaustive
def test_an_import_within_a_function_breaks_a_contract(tmp_path: Path) -> None:
    for package in ("langford", "db", "jobs", "slurm"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=lambda _, files: {*files} - {*sources(files)})
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    sixth = tmp_path / "langford" / "methods" / SIXTH
    sixth.mkdir()
    for name in ("__init__", "plan"):
        (sixth / f"{name}.py").touch()
    for module, imported in [*PLANTED.items(), CIRCLE]:
        file = tmp_path.joinpath(*module.split(".")).with_suffix(".py")
        assert file.exists(), module
        file.write_text(f"{file.read_text()}\n\ndef planted() -> None:\n    import {imported}\n")
    done = lint(tmp_path)
    assert "Broken contracts" in done.stdout, done.stdout + done.stderr
    broken = done.stdout.partition("Broken contracts")[2]
    found = {arrow for arrow in PLANTED.items() if re.search(" *-> *".join(map(re.escape, arrow)) + r"\b", broken)}
    assert {*PLANTED.items()} - found == set(), broken
    circles = broken.partition("one another in a circle\n---")[2]
    assert "- .problem -> .existence" in circles, circles
