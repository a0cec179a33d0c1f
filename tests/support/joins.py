"""Join files of tests."""

from __future__ import annotations

from pathlib import Path

from jobs.reach.join import Join


def join_file(folder: Path, address: str, token: str, certificate: Path | None = None, name: str = "a.join") -> str:
    """Write one; returns its path.

    Args:
        address: of a campaign on a server.
        certificate: a file to trust.
        name: of the file.
    """
    trusted = "" if certificate is None else certificate.read_text()
    file = folder / name
    Join([address], token, trusted).write(file)
    return str(file)
