"""File systems on which SQLite must not be used."""

from __future__ import annotations

from pathlib import Path

from db.errors import NetworkFileSystem

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
    """Raises NetworkFileSystem when ``file`` would lie on one (Linux; elsewhere no check)."""
    if not mounts.exists():
        return
    target = file.resolve().parent
    mount_point, kind = Path("/"), ""
    for line in mounts.read_text().splitlines():
        fields = line.split()
        point = Path(fields[4].replace("\\040", " "))
        if target.is_relative_to(point) and len(point.parts) >= len(mount_point.parts):
            mount_point, kind = point, fields[fields.index("-") + 1]
    if kind in NETWORK_FILE_SYSTEMS:
        raise NetworkFileSystem(
            f"{file} is on {kind} ({mount_point}), where SQLite corrupts: put the ledger on a local disk, "
            "or use Postgres"
        )
