"""The version of the program, and how to install what it can use."""

from __future__ import annotations

from pathlib import Path

__version__ = "1.1.0"


def install(extra: str) -> str:
    """The command that installs what an extra has, from where this program was installed: a clone, or an index."""
    clone = Path(__file__).resolve().parents[1]
    is_clone = (clone / "pyproject.toml").is_file()
    return f"pip install -e '{clone}[{extra}]'" if is_clone else f"pip install 'langford[{extra}]'"
