"""The page with the programs and scripts of docs/examples."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "examples"
LANGUAGES = {".lua": "lua", ".py": "python", ".sbatch": "bash"}


def page() -> str:
    """The page, as Markdown."""
    parts = ["# Examples\n", "Programs and job scripts, which the tests run, and a module for Lmod.\n"]
    for file in sorted(FOLDER.iterdir()):
        if file.suffix in LANGUAGES:
            parts.append(f"## {file.name}\n\n```{LANGUAGES[file.suffix]}\n{file.read_text()}```\n")
    return "\n".join(parts)
