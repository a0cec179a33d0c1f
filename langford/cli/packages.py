"""Whether packages of other programs hide ``db``, ``jobs`` or ``slurm`` of this one."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import langford
from langford.errors import LangfordError

PACKAGES = ("db", "jobs", "slurm")


class ForeignPackage(LangfordError):
    """Python finds another package under the name of one of this program's."""


def require_own_packages() -> None:
    """Raises ForeignPackage unless the packages that Python finds are beside ``langford``."""
    home = Path(str(langford.__file__)).resolve().parent.parent
    for name in PACKAGES:
        spec = find_spec(name)
        origin = None if spec is None or spec.origin is None else Path(spec.origin).resolve()
        if origin is None or origin.parent.parent != home:
            places = list(spec.submodule_search_locations or []) if spec is not None else []
            where = origin or (places[0] if places else "nowhere")
            raise ForeignPackage(
                f"Python finds the package {name} at {where}, not beside langford in {home}: start with "
                "the command `langford` or with `python3 -P -m langford`, and take that folder off PYTHONPATH"
            )
