"""The version of the program, and how to install what it can use."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

__version__ = "2.0.0.dev0"
YEARS = {"1.0.0": 2026, "1.1.0": 2026, __version__: 2026}
"""In which each version was released."""


def source_address() -> str | None:
    """The address of the project's source, as this installation states it; None: it states none."""
    from importlib.metadata import PackageNotFoundError, metadata

    with suppress(PackageNotFoundError):
        for named in metadata("langford").get_all("Project-URL") or ():
            label, _, address = named.partition(", ")
            if label == "Source":
                return str(address)
    return None


def install(extra: str) -> str:
    """The command that installs what an extra has, from where this program was installed: a clone, or an index."""
    clone = Path(__file__).resolve().parents[1]
    is_clone = (clone / "pyproject.toml").is_file()
    return f"pip install -e '{clone}[{extra}]'" if is_clone else f"pip install 'langford[{extra}]'"
