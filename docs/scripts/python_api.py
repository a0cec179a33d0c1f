"""The page of the Python API, from the signatures and docstrings of the public names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from types import FunctionType
from typing import Any

import langford
from langford import irregular

HEAD = """# Python API

Generated from the docstrings. What is not on this page may change without notice.
"""
SECTION = re.compile(r"^(Args|Attributes|Raises|Returns):$")
DESCRIBED = (FunctionType, classmethod, staticmethod, property, cached_property)
ENTRY = re.compile(r"^    (\S.*?): (.*)$")


def page() -> str:
    """The page, as Markdown."""
    parts = [HEAD]
    for module, prefix in ((langford, ""), (irregular, "irregular.")):
        for name in module.__all__:
            if name != "__version__":
                parts += _description(f"{prefix}{name}", getattr(module, name))
    return "\n".join(parts) + "\n"


def _description(name: str, value: Any) -> Iterator[str]:
    """The parts of the page about a function or class, and its public methods."""
    yield f"## {name}\n"
    if not (inspect.isclass(value) and issubclass(value, Exception)):
        yield _signature(f"langford.{name}", value)
    yield _markdown(inspect.getdoc(value) or "")
    if not inspect.isclass(value):
        return
    for member, attribute in vars(value).items():
        if member.startswith("_") or not isinstance(attribute, DESCRIBED):
            continue
        words = inspect.getdoc(attribute)
        if not words:
            continue
        yield f"### {name}.{member}\n"
        if not isinstance(attribute, property | cached_property):
            yield _signature(f"{name}.{member}", getattr(value, member))
        yield _markdown(words)


def _signature(name: str, called: Any) -> str:
    """How something is called, without the types."""
    signature = inspect.signature(called)
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    text = re.sub(r"<(?:class ')?[\w.]*?(\w+)(?:'| object at \w+)>", r"\1", str(inspect.Signature(bare)))
    return f"```text\n{name}{text}\n```\n"


def _markdown(docstring: str) -> str:
    """A docstring as Markdown: sections become tables, examples become blocks."""
    lines: list[str] = []
    section = False
    for line in docstring.splitlines():
        heading, entry = SECTION.match(line), ENTRY.match(line)
        if heading:
            section = True
            lines += [f"| {heading[1].lower()} | |", "|---|---|"]
        elif section and entry:
            lines.append(f"| `{entry[1]}` | {_cell(entry[2])} |")
        elif section and line.startswith("        "):
            lines[-1] = f"{lines[-1].removesuffix(' |')} {_cell(line.strip())} |"
        else:
            section = section and line.startswith("    ")
            lines.append(re.sub(r":\w+:`~?([\w.]+)`", r"`\1`", line))
    return _with_blocks(lines) + "\n"


def _with_blocks(lines: list[str]) -> str:
    """The lines, with fences around examples."""
    parts, example = [], False
    for line in lines:
        if line.startswith(">>> ") and not example:
            parts.append("```python")
            example = True
        elif example and not line:
            parts.append("```")
            example = False
        parts.append(line)
    return "\n".join([*parts, "```"] if example else parts)


def _cell(text: str) -> str:
    """Text in a cell of a table."""
    return text.replace("|", "&#124;")
