"""Where a result comes from: versions and a hash of the code that computes."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from langford.errors import MachineFailed
from langford.loading import load
from langford.version import __version__

if TYPE_CHECKING:
    from langford.methods.plan import Method

COMPUTING = ("arithmetic", "kernels", "methods")
ROOT = Path(__file__).parent
WITH_ALL_METHODS = (ROOT / "__init__.py", ROOT / "methods" / "__init__.py")
"""Imported with each of their modules, but used by none."""
IMPORTED = re.compile(
    r"^[ \t]*(?:from|import) ([\w.]+)(?: import (?:\(([^()]*)|([\w ,]+)))?", re.ASCII | re.MULTILINE
)
LOADED = re.compile(r'"([a-z_]\w*(?:\.\w+)+):\w+"', re.ASCII)
INCLUDED = re.compile(r'"(\w+\.(?:cuh?|h))"', re.ASCII)
"""How files name what they use; sources of GPUs have names that are not in two folders."""


class InstallationChanged(MachineFailed):
    """The files of this program are not those that it started with: its results could not say what made them."""


@cache
def kernel_hash(method: str | None = None) -> str:
    """First 16 hex digits of the SHA-256 of every source file that takes part in counting by a method.

    Those are its files and what they import, load or include; for None, or a method whose files are unknown here,
    those of all methods.  They are read once, when this process first asks.

    Raises InstallationChanged when there is none.
    """
    sources = kept_sources()
    used = None if method is None else load("langford.methods:METHODS").get(method)
    files = sorted(files_of(used)) if used is not None else []
    chosen = {file: sources[file] for file in files if file in sources}
    elsewhere = {file: file.read_bytes() for file in files if ROOT not in file.parents}
    return _hash({**chosen, **elsewhere} if files else sources)


def require_unchanged(kernels: str) -> None:
    """Raises InstallationChanged unless this is the hash of the source files of all methods as they are now."""
    now = _hash(_sources())
    if now != kernels:
        raise InstallationChanged(
            f"the program was changed while it ran (kernels {kernels} before, {now} now): start it again"
        )


def files_of(method: Method) -> set[Path]:
    """The files that a method uses, also those that do not compute."""
    places = method.plans, *method.evaluators.values()
    modules = [type(method).__module__, *(place.partition(":")[0] for place in places)]
    packages = frozenset({"langford", *(module.partition(".")[0] for module in modules)})
    found: set[Path] = set()
    fresh = {file for module in modules for file in _loaded_with(module, packages)}
    while fresh:
        found |= fresh
        fresh = {used for file in fresh for used in _used_by(file, packages)} - found
    return found


@cache
def _loaded_with(module: str, packages: frozenset[str]) -> frozenset[Path]:
    """The files of a module and of the packages that it is in."""
    top, *parts = module.split(".")
    spec = None
    with suppress(ValueError):  # of a program that is run by its name
        spec = find_spec(top) if top in packages else None
    origin = spec.origin if spec else getattr(sys.modules.get(top), "__file__", None)
    if top not in packages or origin is None:
        return frozenset()
    place = Path(origin)
    files = [place]
    for part in parts:
        place = place.with_name(part) / "__init__.py"
        files += place, place.parent.with_suffix(".py")
    return frozenset(file for file in files if file not in WITH_ALL_METHODS and file.is_file())


@cache
def _used_by(file: Path, packages: frozenset[str]) -> frozenset[Path]:
    """What a file imports, loads or includes."""
    text, modules = file.read_text("utf-8"), set[str]()
    if file.suffix == ".py":
        modules = {*LOADED.findall(text)}
        for module, *names in IMPORTED.findall(text):
            modules |= {module, *(f"{module}.{name}" for name in re.findall(r"\w+", " ".join(names)))}
    included = {*INCLUDED.findall(text)}
    return frozenset().union(
        (source for source in kept_sources() if source.name in included),
        *(_loaded_with(module, packages) for module in modules),
    )


@cache
def kept_sources() -> Mapping[Path, bytes]:
    return _sources()


def _sources() -> dict[Path, bytes]:
    files = [file for folder in COMPUTING for file in sorted((ROOT / folder).rglob("*"))]
    return {file: file.read_bytes() for file in files if file.suffix in (".py", ".cu", ".cuh", ".h")}


def _hash(sources: Mapping[Path, bytes]) -> str:
    if not sources:
        raise InstallationChanged(f"no kernels are left in {ROOT}: reinstall the program, then start it again")
    digest = hashlib.sha256()
    for file, content in sources.items():
        digest.update((file.relative_to(ROOT) if ROOT in file.parents else Path(file.name)).as_posix().encode())
        digest.update(content)
    return digest.hexdigest()[:16]


@cache
def versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    installed = {"langford": __version__}
    for package in ("numba", "numpy", "gmpy2", "cupy-cuda12x", "cupy-cuda13x"):
        with suppress(PackageNotFoundError):
            installed[package] = version(package)
    return installed
