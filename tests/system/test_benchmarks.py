"""The benchmarks' harness and their list; nothing here measures time."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import irregular
from benchmarks.catalogue import BENCHMARKS, FOLDER, Benchmark
from benchmarks.energy import Meter, of_processor
from benchmarks.harness import (
    NEEDS_MORE,
    Figure,
    Pairs,
    Report,
    Table,
    paired,
    parser_of,
    require_published,
    run,
    timed,
)
from benchmarks.irregular_parts.bench import Bench
from langford.errors import LangfordError
from langford.kernels.gpu.runtime import NoGpu


def clock_of(*durations: float) -> Callable[[], float]:
    """A clock for one reading before and one after each of these durations."""

    def readings() -> Iterator[float]:
        now = 100.0
        for duration in durations:
            yield now
            now += duration
            yield now
            now += 1000.0  # nothing between two runs counts

    moments = readings()
    return lambda: next(moments)


def test_a_timing_has_the_median_the_spread_and_the_last_outcome() -> None:
    outcomes = iter("abc")
    timing = timed(3, lambda: next(outcomes), clock_of(0.5, 4.0, 0.25), clock_of(0.4, 0.1, 0.2))
    assert timing.seconds == (0.5, 4.0, 0.25)
    assert timing.median == 0.5
    assert timing.spread == "0.25–4"
    assert timing.processor == pytest.approx((0.4, 0.1, 0.2))
    assert timing.median_processor == pytest.approx(0.2)
    assert timing.outcome == "c"


def test_joules_are_those_of_all_packages_also_when_a_counter_begins_again(tmp_path: Path) -> None:
    first, second, core = (tmp_path / f"intel-rapl:{zone}" for zone in ("0", "1", "0:0"))
    for zone in (first, second, core):
        zone.mkdir()
        (zone / "name").write_text("package\n")
        (zone / "max_energy_range_uj").write_text("100000000\n")
        (zone / "energy_uj").write_text("99000000\n")
    with Meter(of_processor(tmp_path)) as energy:
        (first / "energy_uj").write_text("1000000\n")
        (second / "energy_uj").write_text("99500000\n")
        (core / "energy_uj").write_text("99900000\n")
    assert energy.joules == 2.5
    assert (str(energy.figure), energy.heading) == ("2.5", "joules (package, package)")


def test_pairs_are_measured_in_turn_and_compared_one_by_one() -> None:
    order = []

    def side(name: str, seconds: Iterator[float]) -> Callable[[], float]:
        def measure() -> float:
            order.append(name)
            return next(seconds)

        return measure

    pairs = paired(3, side("A", iter([1.0, 2.0, 10.0])), side("B", iter([2.0, 3.0, 5.0])))
    assert order == ["A", "B"] * 3
    assert pairs == Pairs((1.0, 2.0, 10.0), (2.0, 3.0, 5.0))
    assert pairs.medians == (2.0, 3.0)
    assert pairs.ratios == [2.0, 1.5, 0.5]
    assert pairs.ratio == 1.5
    assert pairs.spread == "0.50–2.00"


def test_a_table_is_printed_as_markdown_and_keeps_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("what", "tasks", "time")
    table.row("all", 12, Figure(0.125, "{:.1f} s"))
    assert capsys.readouterr().out == "| what | tasks | time |\n| --- | --- | --- |\n| all | 12 | 0.1 s |\n"
    assert table.rows == [["all", 12, 0.125]]
    with pytest.raises(ValueError, match="3 cells, not 2"):
        table.row("all", 12)


def test_a_report_is_a_document_of_its_rows_with_machine_and_versions() -> None:
    report = Report("methods", ["--quick"])
    report.table("problem", "mean", title="cycles").row("L(2,12)", Fraction(1, 3))
    report.note("peak: 1 MiB")
    document = json.loads(json.dumps(report.document()))
    assert document["benchmark"] == "methods"
    assert document["arguments"] == ["--quick"]
    assert document["tables"] == [
        {"title": "cycles", "headings": ["problem", "mean"], "rows": [["L(2,12)", "1/3"]]}
    ]
    assert document["notes"] == ["peak: 1 MiB"]
    assert {"system", "processor", "cores"} == document["machine"].keys()
    assert {"python", "langford", "numba", "numpy"} <= document["versions"].keys()
    assert len(document["kernels"]) == 16


def test_a_wrong_count_ends_a_benchmark() -> None:
    require_published("L(2,99)", 1, None)
    require_published("L(2,3)", 1, 1)
    with pytest.raises(SystemExit, match=r"L\(2,3\) gave 2, published is 1: wrong"):
        require_published("L(2,3)", 2, 1)


@pytest.mark.parametrize(
    ("error", "code"), [(NoGpu("there is no GPU 0 here"), NEEDS_MORE), (LangfordError("there is no GPU 0 here"), 1)]
)
def test_a_benchmark_that_ends_early_says_why_in_one_line_and_keeps_its_rows(
    error: LangfordError,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def measure(options: argparse.Namespace, report: Report) -> None:
        report.table("n").row(1)
        assert options.quick
        raise error

    file = tmp_path / "rows.json"
    monkeypatch.setattr(sys, "argv", ["benchmarks/sums.py", "--quick", "--json", str(file)])
    with pytest.raises(SystemExit) as ended:
        run(parser_of("Sums."), measure)
    assert ended.value.code == code
    assert capsys.readouterr().err == "sums.py: there is no GPU 0 here\n"
    assert json.loads(file.read_text())["tables"][0]["rows"] == [[1]]


def test_each_table_of_the_irregular_problems_is_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib")

    def two(bench: Bench) -> None:
        for largest in (2.0, 2e9):
            table = bench.report.table("tree", "vertices", "ms", "share")
            table.row("star", 4, Figure(largest, "{:.1f}"), "1%")
            table.row("chain", 8, Figure(0.5, "{:.1f}"), "2%")
            table.row("all", "", "", "")

    def counts(bench: Bench) -> None:
        bench.report.table("level", "edges").row(0, 7)

    monkeypatch.setattr(irregular, "SECTIONS", {"two": two, "counts": counts})
    folder = tmp_path / "drawn"
    options = argparse.Namespace(section=[], device="cpu", quick=True, figures=None, draw=folder, picture=None)
    irregular.main(options, Report("irregular", []))
    drawn = {file.name: file.read_text() for file in folder.iterdir()}
    assert sorted(drawn) == ["counts-1.svg", "two-1.svg", "two-2.svg"]
    assert all("<svg" in text for text in drawn.values())


# -- python -m benchmarks -------------------------------------------------------------------


def test_every_script_is_in_the_list() -> None:
    scripts = {file.stem for file in FOLDER.glob("*.py") if "run(parser" in file.read_text()}
    assert scripts - {"harness"} == {benchmark.name for benchmark in BENCHMARKS}
    assert len(BENCHMARKS) == len({benchmark.name for benchmark in BENCHMARKS})


IMPORT_ALL = """
from importlib import import_module
from pkgutil import walk_packages
import benchmarks
for found in walk_packages(benchmarks.__path__, "benchmarks."):
    if not found.name.endswith("__main__"):
        import_module(found.name)
        print(found.name)
"""
"""In a process of its own: a simulation replaces the clock of the ledger, others the methods of classes."""


def test_every_module_can_be_imported() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORT_ALL], cwd=FOLDER.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {f"benchmarks.{benchmark.name}" for benchmark in BENCHMARKS} < {*done.stdout.split()}


LONG = {"methods", "farm", "large_ledger", "strangers", "one_token", "event_graphs", "irregular", "irregular_ranks"}
LONG |= {"serving"}
"""These take 9 to 170 s at their smallest size, too long for each run of the tests."""
RUN_HERE = [each for each in BENCHMARKS if each.name not in {*LONG, "soak", "shifted_points"}]
"""The soak has a test of its own, and the points have those of their page."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("benchmark", RUN_HERE, ids=lambda benchmark: benchmark.name)
def test_each_short_one_runs_at_its_smallest_size(benchmark: Benchmark, tmp_path: Path) -> None:
    code, _ = command.run(benchmark, True, tmp_path)
    assert code in (0, NEEDS_MORE)
    if code == NEEDS_MORE:
        assert "GPU" in benchmark.needs, f"{benchmark.name} needs what this machine has not"
    else:
        assert json.loads((tmp_path / f"{benchmark.name}.json").read_text())


def test_the_pages_name_commands_that_exist() -> None:
    root = FOLDER.parent
    pages = [root / "README.md", *(root / "docs").glob("*.md"), *FOLDER.glob("*.md"), *FOLDER.glob("*.py")]
    named = {name for page in pages for name in re.findall(r"python benchmarks/(\w+)\.py", page.read_text())}
    assert named - {"NAME"} == {benchmark.name for benchmark in BENCHMARKS}


def script(folder: Path, name: str, code: int) -> Benchmark:
    """A benchmark that notes its arguments in a file, and ends with this exit code."""
    (folder / f"{name}.py").write_text(
        f'"""Nothing: {name}."""\n'
        "import pathlib, sys\n"
        f"pathlib.Path(__file__).with_suffix('.ran').write_text(' '.join(sys.argv[1:]))\n"
        f"sys.exit({code})\n"
    )
    return Benchmark(name, 1)


def test_all_are_run_and_what_a_machine_lacks_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = [script(tmp_path, "fine", 0), script(tmp_path, "needy", NEEDS_MORE), script(tmp_path, "other", 0)]
    monkeypatch.setattr("benchmarks.catalogue.FOLDER", tmp_path)
    monkeypatch.setattr(command, "BENCHMARKS", ran)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "all", "--quick", "--json", str(tmp_path / "rows")])
    command.main()
    for benchmark in ran:
        arguments = (tmp_path / f"{benchmark.name}.ran").read_text()
        assert arguments == f"--quick --json {tmp_path / 'rows' / benchmark.name}.json"
    out = capsys.readouterr().out
    assert re.search(r"^\| fine \| done \| \d+ \|$", out, re.MULTILINE)
    assert re.search(r"^\| needy \| skipped \| \d+ \|$", out, re.MULTILINE)


def test_the_command_fails_where_a_benchmark_fails_but_runs_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = [script(tmp_path, "broken", 3), script(tmp_path, "unasked", 0), script(tmp_path, "fine", 0)]
    monkeypatch.setattr("benchmarks.catalogue.FOLDER", tmp_path)
    monkeypatch.setattr(command, "BENCHMARKS", known)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "broken", "fine"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 1
    assert "| broken | failed, exit code 3 |" in capsys.readouterr().out
    assert sorted(file.stem for file in tmp_path.glob("*.ran")) == ["broken", "fine"]
