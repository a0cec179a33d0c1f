"""What other installed programs add to this one: methods and families, each by an entry point of its group.

Every process finds them: workers, MPI ranks and servers too.  What a process registers itself, no other finds.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from langford.errors import LangfordError, named
from langford.machine.kept import say_once

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class BadExtension(LangfordError):
    """An entry point of an installed program does not name what its group is for."""


T = TypeVar("T")


class Registry(UserDict[str, T]):
    """Things by name: those of this program, then those of others, which are imported when they are asked for.

    Others cannot take a name of this program.  One that cannot be loaded is an error where it is asked for by its
    name; whoever looks at all of them (``items`` and ``values``) gets the others, and one line is printed about it.
    """

    def __init__(self, group: str, kind: type[T], ours: Mapping[str, T], reserved: Iterable[str] = ()) -> None:
        """
        Args:
            group: of the entry points.
            kind: of the things, each with a ``name``; an entry point names one, or its class.
            ours: those of this program.
            reserved: further names that others cannot take.
        """
        super().__init__()
        self._group, self._kind, self._ours = group, kind, frozenset(ours)
        self._not_theirs = self._ours.union(reserved)
        self.data = dict(ours)
        self._broken: set[str] = set()

    def __contains__(self, name: object) -> bool:
        return name in self.data or name in self._declared

    def __getitem__(self, name: str) -> T:
        if name not in self.data and name in self._declared:
            self.data[name] = self._loaded(self._declared[name])
        return self.data[name]

    def __iter__(self) -> Iterator[str]:
        yield from (name for name in self.data if name not in self._declared)
        yield from self._declared

    def __len__(self) -> int:
        return len({*self.data, *self._declared})

    def items(self) -> ItemsView[str, T]:
        return self._usable().items()

    def values(self) -> ValuesView[T]:
        return self._usable().values()

    def _usable(self) -> dict[str, T]:
        usable = {}
        for name in self:
            if name in self._broken:
                continue
            try:
                usable[name] = self[name]
            except BadExtension as error:
                self._broken.add(name)
                say_once(f"{name} is left out: {error}")
        return usable

    def is_everywhere(self, name: str) -> bool:
        """Whether other processes find it too: it was not only registered in this one."""
        return name in self._ours or name in self._declared

    @cached_property
    def _declared(self) -> Mapping[str, EntryPoint]:
        """The entry points of others; looking for them takes milliseconds, and few commands need more than ours."""
        from importlib.metadata import entry_points

        added = entry_points(group=self._group)
        return {entry.name: entry for entry in added if entry.name not in self._not_theirs}

    def _loaded(self, entry: EntryPoint) -> T:
        """Raises BadExtension."""
        program = entry.dist.name if entry.dist else "an installed program"
        try:
            value = entry.load()
            found = value() if isinstance(value, type) else value
        except (Exception, SystemExit) as error:
            raise BadExtension(
                f"{entry.name}, which {program} adds, cannot be loaded ({named(error)}): fix "
                f"{entry.value}, or uninstall {program}"
            ) from error
        if not isinstance(found, self._kind) or getattr(found, "name", None) != entry.name:
            raise BadExtension(
                f"{entry.value} of {program} is not a {self._kind.__name__} named {entry.name}, as its entry point "
                f"in {self._group} declares: fix it, or uninstall {program}"
            )
        return found
