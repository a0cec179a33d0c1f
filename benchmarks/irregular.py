"""Speed of the irregular problems, on one core or on GPU 0: the tables of irregular.md.

    python benchmarks/irregular.py                   all but largest and scan, which are for a GPU; 25 minutes
    python benchmarks/irregular.py search treefix sizes grids solve cycles states accuracy
    python benchmarks/irregular.py treefix sizes grids scan solve accuracy --device cuda
    python benchmarks/irregular.py search largest --device cuda --figures benchmarks/figures/search-gteps.json
    python benchmarks/irregular.py --picture docs/search-gteps.svg       the picture of these figures
    python benchmarks/irregular.py treefix solve --draw pictures         bars of each of these tables, in a folder

Arrays are where the device wants them before the clock starts, kernels are compiled, times are medians: on a core
those of the processor, on a GPU those of the clock.  "share" is the bytes that a method must move per second, as a
share of what a copy moves on the same device.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.harness import Report, add_choice, parser_of, run
from benchmarks.irregular_parts import figure, graphs, trees
from benchmarks.irregular_parts.bench import Bench

SECTIONS = {**graphs.SECTIONS, **trees.SECTIONS}
ONLY_ON_A_GPU = ("largest", "scan")


def main(options: argparse.Namespace, report: Report) -> None:
    """Print the tables that were asked for, and draw them, or draw the picture."""
    if options.picture:
        figure.draw(options.picture)
        return
    if options.draw:
        options.draw.mkdir(exist_ok=True)
    bench = Bench(report, options.device, options.quick)
    report.note(f"copy: {bench.bandwidth / 1e9:.1f} GB/s read and written")
    for name in options.section or [name for name in SECTIONS if name not in ONLY_ON_A_GPU]:
        print(f"\n## {name}\n")
        before = len(report.tables)
        SECTIONS[name](bench)
        for number, table in enumerate(report.tables[before:] if options.draw else [], 1):
            figure.draw_table(table, options.draw / f"{name}-{number}.svg")
    if options.figures:
        kept = json.loads(options.figures.read_text()) if options.figures.exists() else {}
        for name, values in bench.figures.items():
            kept.setdefault(name, {}).update(values)
        options.figures.write_text(json.dumps(kept, indent=2, sort_keys=True) + "\n")


if __name__ == "__main__":
    parser = parser_of(__doc__)
    add_choice(parser, "section", list(SECTIONS))
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--figures", type=Path, metavar="FILE", help="add what the picture shows to this JSON file")
    parser.add_argument("--draw", type=Path, metavar="FOLDER", help="draw each table into this folder")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the figures that are kept, nothing else")
    run(parser, main)
