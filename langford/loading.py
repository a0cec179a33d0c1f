"""Load a name of a module when it is first used: programs start without the modules that they do not need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def load(reference: str) -> Any:
    """The object that "package.module:name" names; raises ImportError or AttributeError."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def loading(package: dict[str, Any], modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package that loads some of its names when they are first used.

    ``package``: its ``globals()``, which keep what was loaded; ``modules``: the names that each module defines.
    """
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def of_package(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        value = package[name] = load(f"{module_of[name]}:{name}")
        return value

    return of_package
