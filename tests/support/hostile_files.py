"""Files of every kind and name that may stand where a worker keeps its results."""

from __future__ import annotations

import json
import os
import socket
import stat
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

SUFFIX = ".result.json"
ELSEWHERE = "99999999-0000-4000-8000-000000000000"
SPARSE = 10 * 2**30


def plant(folder: Path, genuine: bytes, outside: Path) -> list[Path]:
    """Put one of each kind into a folder.

    Args:
        folder: of an outbox.
        genuine: the content of a result that a server takes.
        outside: a folder to which links lead; nothing in it may change.

    Each appears at once and complete: a worker that watches the folder takes them away as they come.

    Returns what was made, in which no file is one that a server takes.
    """
    with TemporaryDirectory(dir=outside.parent) as elsewhere:
        made = _make(Path(elsewhere), genuine, outside)
        return [file.rename(folder / file.name) for file in made]


def _make(folder: Path, genuine: bytes, outside: Path) -> list[Path]:
    made = [
        folder / f"{kind}{SUFFIX}" for kind in ("folder", "full", "link", "dangling", "to-folder", "fifo", "socket")
    ]
    empty, full, link, dangling, to_folder, fifo, listening = made
    empty.mkdir()
    full.mkdir()
    (full / f"inside{SUFFIX}").write_bytes(genuine)
    precious = outside / f"precious{SUFFIX}"
    precious.write_bytes(genuine)
    link.symlink_to(precious)
    dangling.symlink_to(outside / "nowhere" / "at-all")
    to_folder.symlink_to(outside)
    os.mkfifo(fifo)
    # The path of a socket is short; its name does not matter when it is made.
    with socket.socket(socket.AF_UNIX) as unbound:
        here = Path.cwd()
        os.chdir(folder)
        try:
            unbound.bind(listening.name)
        finally:
            os.chdir(here)
    with suppress(PermissionError):  # only root makes devices
        device = folder / f"device{SUFFIX}"
        os.mknod(device, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        made.append(device)
    sparse, closed = folder / f"sparse{SUFFIX}", folder / f"closed{SUFFIX}"
    with sparse.open("wb") as stream:
        stream.truncate(SPARSE)
    closed.write_bytes(b"{")
    closed.chmod(0)
    made += [sparse, closed]
    for name in [
        "",
        "two\nlines",
        "red \x1b[31m\x07",
        "left\u202eright",
        os.fsdecode(b"no \xff\xfe text"),
        "x" * 243,
    ]:
        named = folder / f"{name}{SUFFIX}"
        named.write_bytes(b"{")
        made.append(named)
    for number, content in enumerate(forged(genuine)):
        file = folder / f"forged-{number}{SUFFIX}"
        file.write_bytes(content)
        made.append(file)
    return made


def forged(genuine: bytes) -> list[bytes]:
    """Contents that look like a result, and are none that a server takes."""
    document = json.loads(genuine)
    changes: list[dict[str, object]] = [
        {"attempt": 2**31 - 1},
        {"attempt": 2**62},
        {"nonce": "guessed"},
        {"index": 0 if document["index"] else 1},
        {"index": 100_000},
        {"campaign": ELSEWHERE},
        {"ledger": ELSEWHERE},
        {"problem": "langford-8"},
        {"method": "godfrey"},
        {"depth": 1},
        {"value": "1e3"},
        {"value": "9" * 100_000},
        {"provenance": "\ud800"},
        {"provenance": "\0"},
    ]
    return [
        *(json.dumps({**document, **change}).encode() for change in changes),
        b"",
        b"null",
        b"[" * 90_000,
        b"\xff\xfe",
        genuine[:-1],
        genuine.replace(b"{", b'{"attempt": 1,', 1) + b"}",
    ]
