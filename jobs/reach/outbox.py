"""A worker's durable outbox: results wait here until the server has them.

    ROOT/CAMPAIGN/WORKER/ATTEMPT.NONCE.result.json   CAMPAIGN and WORKER are UUIDs, NONCE the start of a hash
    ROOT/CAMPAIGN/WORKER.lock                        held while the worker lives
    ROOT/quarantine/                                 what no server accepts

A worker holds the lock of its own folder, and no other worker touches the folder meanwhile.  The lock of a dead
worker is free: another worker of the same campaign adopts the results that it left.

Any other file in these folders, of whatever kind and name, is sent, moved to the quarantine, or left where it is;
none ends a worker.  No link is followed, and nothing is deleted that this program did not write.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from db import Delivery
from db.identity import Identity
from db.messages import UUID
from db.records import CampaignInfo
from jobs.console import SILENT, Console
from jobs.reach.outbox_files import FOLDER, Quarantine, opened, sealed
from langford.errors import BadInput, LangfordError
from langford.machine.durable import (
    FileTooLarge,
    NotRegular,
    lock_file,
    regular_content,
    replace_file,
)
from langford.machine.outputs import NotReplaceable, OutputForm
from langford.methods import method_hash

SUFFIX = ".result.json"
RESULT = OutputForm("a result", rb'\{"')
LOCK = ".lock"
MAX_FILE = 100_000
TRIALS = 100
UNFINISHED = re.compile(rf"\..*{re.escape(SUFFIX)}\.(.*\.)?\d+", re.DOTALL)
"""A file that was being written when a worker crashed, see :func:`langford.machine.durable.replace_file`."""


class Outbox:
    """The results of one worker for one campaign, and those of dead workers that it has adopted.

    Attributes:
        attempts: those of this worker whose results wait here.
    """

    def __init__(self, root: Path, identity: Identity, console: Console = SILENT) -> None:
        """Nothing is written before :meth:`prepare`.

        Args:
            root: the folder of all outboxes of this machine.
            identity: the worker.
            console: gets a line for each file that is not sent, with the reason.
        """
        self.root, self.attempts = root, set[int]()
        self._identity, self._console = identity, console
        self._quarantine = Quarantine(root, console)
        self._objection = ""
        # The files from which each delivery was read: there may be copies.
        self._read: dict[Delivery, set[Path]] = {}
        self._info: CampaignInfo | None = None
        self._kernels = ""
        self._lock: IO[bytes] | None = None

    @property
    def folder(self) -> Path:
        return self.root if self._info is None else self._campaign / self._identity.worker_id

    @property
    def count(self) -> int:
        return sum(_is(stat.S_ISREG, file) and not self._quarantine.skips(file) for file in self._files())

    @property
    def is_open(self) -> bool:
        return self._lock is not None

    def has(self, info: CampaignInfo) -> bool:
        """Whether any worker has left something for this campaign."""
        return (self.root / info.campaign).is_dir()

    @property
    def left_behind(self) -> bool:
        """Whether any worker of this machine has left results, for any campaign."""
        return any(
            file.name.endswith(SUFFIX)
            for campaign in _folders(self.root)
            for worker in _folders(campaign)
            for file in _entries(worker)
        )

    def prepare(self) -> None:
        """Make the folder of all outboxes, so that a wrong path is noticed before work begins; raises BadInput."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._not_usable(error) from error

    def open(self, info: CampaignInfo) -> None:
        """Take the worker's own folder for a campaign, and adopt those of dead workers; raises BadInput.

        Args:
            info: the campaign; its UUID and its ledger's are in the name of the folder and in the files.
        """
        self._info, self._kernels = info, method_hash(info.method)
        self.prepare()
        try:
            self._lock = self._own_lock()
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise self._not_usable(error) from error
        self._reject_strays()
        self.adopt()

    def _not_usable(self, error: OSError) -> BadInput:
        return BadInput(
            f"results cannot wait in {self.root} ({error.strerror}): check that you may write there and that space "
            "is free, or name another folder in LANGFORD_OUTBOX"
        )

    def put(self, delivery: Delivery) -> bool:
        """Keep a delivery; returns whether it is on disk now, which may be full.

        Args:
            delivery: of the campaign that was opened.
        """
        file, content = self._file(delivery), sealed(self._known, self._kernels, delivery)
        try:
            if os.path.lexists(file) and not (_is(stat.S_ISREG, file) and RESULT.fits(file)):
                self._quarantine.take(file, "it is not a result")
            replace_file(file, content, RESULT, private=True, named_once=True)
        except (OSError, NotReplaceable) as error:
            reason = str(error.strerror if isinstance(error, OSError) else error)
            if reason != self._objection:
                self._console.say(
                    f"no result can be written to {self.folder} ({reason}): check that you may write there and "
                    "that space is free"
                )
            self._objection = reason
            return False
        self._objection = ""
        self.attempts.add(delivery.attempt)
        self._read.setdefault(delivery, set()).add(file)
        return True

    def waiting(self) -> list[Delivery]:
        """Each once; any other file is moved to the quarantine."""
        self._read = {}
        for file in self._files():
            if not self._quarantine.skips(file):
                try:
                    delivery = opened(regular_content(file, MAX_FILE), self._known)
                except FileNotFoundError:
                    continue  # it has been deleted meanwhile
                except (NotRegular, FileTooLarge):
                    self._quarantine.take(file, f"it is not a regular file of at most {MAX_FILE:,} bytes")
                except PermissionError as error:
                    self._quarantine.take(file, f"it cannot be read ({error.strerror})")
                except OSError as error:  # of the disk or this process: the file may be a good result
                    why = f"cannot be read now ({error.strerror})"
                    self._quarantine.skip(file, why, "the next worker of this campaign here sends it")
                except LangfordError as error:
                    self._quarantine.take(file, str(error))
                else:
                    self._read.setdefault(delivery, set()).add(file)
        return list(self._read)

    def remove(self, delivery: Delivery) -> None:
        """Delete the files from which a delivery was read, too.

        Args:
            delivery: one that arrived.
        """
        self.attempts.discard(delivery.attempt)
        for file in sorted(self._read.pop(delivery, ())):
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                self._quarantine.skip(file, f"is delivered and cannot be deleted ({error.strerror})")

    def refuse(self, delivery: Delivery, reason: str) -> None:
        """Move the files of a delivery to the quarantine.

        Args:
            delivery: one that the campaign refuses.
            reason: written beside it, and to the console.
        """
        self.attempts.discard(delivery.attempt)
        for file in sorted(self._read.pop(delivery, ())):
            self._quarantine.take(file, reason)

    def adopt(self) -> None:
        """Take over what dead workers left for this campaign; the files of living workers stay untouched."""
        names = {entry.name.removesuffix(LOCK) for entry in _entries(self._campaign)}
        for name in sorted(names - {self._identity.worker_id}):
            if re.match(UUID, name):
                # Otherwise the worker lives, another one adopts its files, or this file system has no locks.
                with suppress(OSError, NotRegular), lock_file(self._campaign / f"{name}{LOCK}"):
                    self._take_over(self._campaign / name)

    def close(self) -> None:
        """Release the folder; the next worker of the campaign adopts what still waits in it."""
        if self._lock is None:
            return
        with suppress(OSError):
            self.folder.rmdir()
            self._lock_file.unlink()
            self._campaign.rmdir()
        self._lock.close()
        self._lock = None

    @property
    def _known(self) -> CampaignInfo:
        assert self._info is not None, "the outbox is open"
        return self._info

    @property
    def _campaign(self) -> Path:
        return self.root / self._known.campaign

    @property
    def _lock_file(self) -> Path:
        return self._campaign / f"{self._identity.worker_id}{LOCK}"

    def _own_lock(self) -> IO[bytes]:
        """The lock of this worker's folder, acquired before the folder exists.

        Other workers remove unused folders and locks, so that several attempts may be needed.
        """
        for _ in range(TRIALS):
            if os.path.lexists(self._campaign) and not self._campaign.is_dir():
                self._quarantine.take(self._campaign, "it is not a folder")
            self._campaign.mkdir(mode=0o700, exist_ok=True)
            with suppress(FileNotFoundError, BlockingIOError):
                lock = lock_file(self._lock_file)
                if self._lock_file.stat().st_ino == os.fstat(lock.fileno()).st_ino:
                    return lock
        raise OSError(0, "another program holds its lock")

    def _take_over(self, folder: Path) -> None:
        """Move the files of a dead worker, whose lock this one holds, and remove its folder."""
        if _is(stat.S_ISDIR, folder):
            for file in _entries(folder):
                if file.name.endswith(SUFFIX):
                    with suppress(OSError):
                        file.rename(self._free_place(file.name))
                elif UNFINISHED.fullmatch(file.name) and _is(stat.S_ISREG, file):
                    file.unlink(missing_ok=True)
                else:
                    self._quarantine.take(file, "it is not a result")
            folder.rmdir()
        folder.with_name(f"{folder.name}{LOCK}").unlink(missing_ok=True)

    def _reject_strays(self) -> None:
        """Results in ROOT or ROOT/CAMPAIGN itself have no worker whose lock shows whether it still writes them."""
        for folder in [self.root, *_folders(self.root)]:
            for file in _entries(folder):
                if file.name.endswith(SUFFIX):
                    self._quarantine.take(file, "it is in the folder of no worker")

    def _files(self) -> list[Path]:
        """Everything in the worker's folder that has the name of a result, of whatever kind it is."""
        return [file for file in _entries(self.folder) if file.name.endswith(SUFFIX)] if self._info else []

    def _free_place(self, name: str) -> Path:
        place = self.folder / name
        return place.with_name(f"{secrets.token_hex(4)}{SUFFIX}") if os.path.lexists(place) else place

    def _file(self, delivery: Delivery) -> Path:
        # A ledger that was restored from a backup assigns numbers again: the nonce distinguishes such attempts.
        return self.folder / f"{delivery.attempt}.{delivery.digest[:12]}{SUFFIX}"


def _entries(folder: Path) -> list[Path]:
    """By name; none if the folder cannot be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _folders(folder: Path) -> list[Path]:
    """Without links and without the quarantine."""
    return [entry for entry in _entries(folder) if entry.name != FOLDER and _is(stat.S_ISDIR, entry)]


def _is(kind: Callable[[int], bool], file: Path) -> bool:
    """Whether there is a file of this kind, and no link to one."""
    try:
        return kind(file.lstat().st_mode)
    except OSError:
        return False
