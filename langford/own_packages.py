"""Whether ``db``, ``jobs`` and ``slurm``, as Python finds them, are this program's own, and are files."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from langford.errors import BadInput

OWN_PACKAGES = ("db", "jobs", "slurm")
HOME = Path(__file__).resolve().parent.parent


def require_files() -> None:
    """Raises BadInput where they are in a zip: tables are read as files, and compilers get paths of sources."""
    if not HOME.is_dir():
        raise BadInput(f"langford cannot run from a zip ({HOME}): install it (`pip install langford`)")


def require_own_packages() -> None:
    """Look where each is found, before one is imported: a script may have a file of that name beside it.

    A folder that is not a package is ignored.

    Raises BadInput, which names the file in the way, and as require_files.
    """
    require_files()
    for name in OWN_PACKAGES:
        found = _found(name)
        if found is None:
            sys.path.insert(0, str(HOME))
            found = _found(name)
        if found is None or found.resolve().parent.parent != HOME:
            raise BadInput(_advice(name, found))


def _found(name: str) -> Path | None:
    """The file of a package, imported already or as Python finds it; None: there is none."""
    module = sys.modules.get(name)
    spec = find_spec(name) if module is None else module.__spec__
    origin = getattr(module, "__file__", None) if spec is None else spec.origin
    return None if origin is None else Path(origin)


def _advice(name: str, found: Path | None) -> str:
    if found is None:
        return f"the package {name} is not beside langford in {HOME}: install langford again"
    return (
        f"{found} is in the way: langford has a package {name} of its own, in {HOME}.  Rename that file or folder, "
        "or take its folder off Python's path: for a script's own folder with `python3 -P`, else off PYTHONPATH"
    )
