"""Network file systems, on which SQLite must not be used."""

from __future__ import annotations

import os
from pathlib import Path

from db.errors import LedgerUnusable

NETWORK_FILE_SYSTEMS = {
    "nfs",
    "nfs4",
    "lustre",
    "gpfs",
    "beegfs",
    "cifs",
    "smb3",
    "smbfs",
    "afs",
    "ceph",
    "glusterfs",
    "fuse.glusterfs",
    "fuse.sshfs",
    "orangefs",
    "pvfs2",
    "panfs",
    "wekafs",
}


def refuse_network_file_system(file: Path, mounts: Path = Path("/proc/self/mountinfo")) -> None:
    """Raises LedgerUnusable when the folder of ``file`` is on one.

    ``mounts``: the list of mounts of Linux; without it, nothing is checked.
    """
    if not mounts.exists():
        return
    folder = Path(os.path.realpath(file)).parent
    mount_point, kind = Path("/"), ""
    for line in mounts.read_text().splitlines():
        fields = line.split()
        candidate = Path(fields[4].replace("\\040", " "))
        if folder.is_relative_to(candidate) and len(candidate.parts) >= len(mount_point.parts):
            mount_point, kind = candidate, fields[fields.index("-") + 1]
    if kind in NETWORK_FILE_SYSTEMS:
        raise LedgerUnusable(
            f"{file} is on {kind} ({mount_point}), where SQLite may corrupt it: put the ledger on a local disk, "
            "or use Postgres"
        )
