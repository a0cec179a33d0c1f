"""The page with the programs and scripts of docs/examples."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "examples"
LANGUAGES = {
    "Containerfile": "dockerfile",
    ".def": "bash",
    ".lua": "lua",
    ".py": "python",
    ".sbatch": "bash",
    ".yaml": "yaml",
}
"""By what the name of a file ends in."""


def page() -> str:
    """The page, as Markdown."""
    parts = ["# Examples\n", "Programs and job scripts, which the tests run, and a module for Lmod.\n"]
    for file in sorted(FOLDER.iterdir()):
        language = LANGUAGES.get(file.suffix or file.name)
        if language is not None:
            parts.append(f"## {file.name}\n\n```{language}\n{file.read_text()}```\n")
    return "\n".join(parts)
