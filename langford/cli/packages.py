"""Whether packages of other programs hide ``db``, ``jobs`` or ``slurm`` of this one."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import langford
from langford.errors import BadInput

PACKAGES = ("db", "jobs", "slurm")


def require_own_packages() -> None:
    """Raises BadInput unless the packages that Python finds are beside ``langford``.

    A folder of that name that is not a package is ignored.
    """
    home = Path(str(langford.__file__)).resolve().parent.parent
    for name in PACKAGES:
        if _place_of(name) == home:
            continue
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            sys.path.insert(0, str(home))
            spec = find_spec(name)
        if _place_of(name) != home:
            where = "nowhere" if spec is None or spec.origin is None else spec.origin
            raise BadInput(
                f"Python finds the package {name} at {where}, not beside langford in {home}: start with "
                "the command `langford` or with `python3 -P -m langford`, and take that folder off PYTHONPATH"
            )


def _place_of(name: str) -> Path | None:
    """None where there is no package of that name."""
    spec = find_spec(name)
    return None if spec is None or spec.origin is None else Path(spec.origin).resolve().parent.parent
