"""A worker's durable outbox: results wait here until the server has them.

    ROOT/CAMPAIGN/WORKER/ATTEMPT.NONCE.result.json   CAMPAIGN and WORKER are UUIDs, NONCE the start of a hash
    ROOT/CAMPAIGN/WORKER.lock                        held while the worker lives
    ROOT/quarantine/                                 what no server takes

A worker holds the lock of its own folder, and nobody else touches the folder meanwhile.  When a worker dies, its
lock is free: another worker of the same campaign adopts what it left.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from db import Delivery, nonces
from jobs.farm import envelope
from jobs.farm.quarantine import FOLDER, Quarantine
from jobs.farm.wire import BadMessage, CampaignInfo
from jobs.identity import Identity
from langford.durable import replace_file
from langford.errors import LangfordError

SUFFIX = ".result.json"
LOCK = ".lock"
LARGEST_FILE = 100_000
TRIALS = 100


class NoOutbox(LangfordError):
    """The folder for results cannot be made or used."""


class Outbox:
    """The results of one worker for one campaign, and those of dead workers that it has adopted.

    Results that the disk does not take are kept in memory.

    Attributes:
        root: of all outboxes of this machine.
        attempts: those of this worker whose results wait here.
    """

    def __init__(self, root: Path, identity: Identity, say: Callable[[str], None] = lambda message: None) -> None:
        """The outbox of a worker; nothing is written before :meth:`prepare`.

        Args:
            root: of all outboxes of this machine.
            identity: of the worker.
            say: called with remarks for the user.
        """
        self.root, self.attempts = root, set[int]()
        self._identity, self._say = identity, say
        self._quarantine = Quarantine(root, say)
        self._unkept: list[Delivery] = []
        self._info: CampaignInfo | None = None
        self._lock: IO[str] | None = None

    @property
    def folder(self) -> Path:
        """The worker's own folder, once the campaign is known."""
        return self.root if self._info is None else self._campaign / self._identity.worker_id

    @property
    def count(self) -> int:
        """Number of results that wait."""
        return len(self._unkept) + (len(self._files()) if self._info else 0)

    @property
    def left_behind(self) -> bool:
        """Whether any worker of this machine has left results, for any campaign."""
        return any(self.root.glob(f"*/*/*{SUFFIX}"))

    def prepare(self) -> None:
        """Make the folder of all outboxes, so that a wrong one is known before work begins; raises NoOutbox."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._no_outbox(error) from error

    def open(self, info: CampaignInfo) -> None:
        """Take the worker's own folder for this campaign, and adopt those of dead workers; raises NoOutbox."""
        self._info = info
        self.prepare()
        try:
            self._lock = self._own_lock()
            self.folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise self._no_outbox(error) from error
        self._reject_earlier_versions()
        self.adopt()

    def _no_outbox(self, error: OSError) -> NoOutbox:
        return NoOutbox(
            f"results cannot wait in {self.root} ({error.strerror}): make room there, or choose another folder "
            "with --outbox"
        )

    def put(self, delivery: Delivery) -> None:
        """Keep a delivery: it is on disk when this returns, or in memory when the disk is full."""
        self.attempts.add(delivery.attempt)
        try:
            replace_file(self._file(delivery), envelope.sealed(self._known, self._identity.kernels, delivery))
        except OSError as error:
            # Memory does not survive this process, but the result is sent as soon as the server answers.
            self._unkept.append(delivery)
            self._say(f"the outbox {self.folder} does not take results ({error.strerror}); make room")

    def waiting(self) -> list[Delivery]:
        """All deliveries for the campaign; a file that is something else goes to the quarantine."""
        deliveries = list(self._unkept)
        for file in self._files():
            if not self._quarantine.has(file):
                try:
                    deliveries.append(envelope.opened(_content(file), self._known))
                except FileNotFoundError:
                    continue  # somebody has deleted it
                except (OSError, LangfordError) as error:
                    self._quarantine.take(file, str(error))
        return deliveries

    def remove(self, delivery: Delivery) -> None:
        """Forget a delivery that the server has."""
        self._forget(delivery)
        with suppress(OSError):
            self._file(delivery).unlink()

    def refuse(self, delivery: Delivery, reason: str) -> None:
        """Put a delivery aside that the server does not take."""
        if self._forget(delivery):
            self._say(f"the result of task {delivery.evaluation.result.index} is not taken: {reason}")
        else:
            self._quarantine.take(self._file(delivery), reason)

    def adopt(self) -> None:
        """Take over what dead workers left for this campaign; the files of living workers stay untouched."""
        names = {entry.name.removesuffix(LOCK) for entry in self._campaign.iterdir()}
        for name in sorted(names - {self._identity.worker_id}):
            # Without the lock the worker lives, or another one adopts its files, or the file system has no locks.
            with suppress(OSError), _locked(self._campaign / f"{name}{LOCK}"):
                self._take_over(self._campaign / name)

    def close(self) -> None:
        """Give up the folder; what still waits in it is for the next worker of the campaign."""
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
        return self.root / self._known.uuid

    @property
    def _lock_file(self) -> Path:
        return self._campaign / f"{self._identity.worker_id}{LOCK}"

    def _own_lock(self) -> IO[str]:
        """The lock of this worker's folder, taken before the folder is there.

        Other workers remove folders and locks that nobody uses: then this one tries again.
        """
        for _ in range(TRIALS):
            self._campaign.mkdir(mode=0o700, exist_ok=True)
            with suppress(FileNotFoundError, BlockingIOError):
                lock = self._lock_file.open("a")
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._lock_file.stat().st_ino == os.fstat(lock.fileno()).st_ino:
                    return lock
        raise OSError(0, "its lock is always taken")

    def _take_over(self, folder: Path) -> None:
        """Move the files of a dead worker, whose lock is held, and remove its folder."""
        if folder.is_dir():
            for file in sorted(folder.iterdir()):
                if file.name.endswith(SUFFIX):
                    file.replace(self.folder / file.name)
                else:
                    file.unlink()  # half of a file, from the moment of a crash
            folder.rmdir()
        folder.with_name(f"{folder.name}{LOCK}").unlink(missing_ok=True)

    def _reject_earlier_versions(self) -> None:
        """Put aside files of version 0.1, which do not say what they belong to: they lie in ROOT or ROOT/NAME."""
        for folder in [self.root, *(entry for entry in self.root.iterdir() if entry.is_dir())]:
            if folder.name != FOLDER:
                for file in sorted(folder.glob(f"*{SUFFIX}")):
                    self._quarantine.take(
                        file, "it is of version 0.1 and does not say which campaign it belongs to"
                    )

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob(f"*{SUFFIX}"))

    def _file(self, delivery: Delivery) -> Path:
        # A ledger that was restored from a backup grants numbers again: the nonce tells them apart.
        return self.folder / f"{delivery.attempt}.{nonces.digest(delivery.nonce)[:12]}{SUFFIX}"

    def _forget(self, delivery: Delivery) -> bool:
        """Remove a delivery from memory; returns whether it was kept there alone."""
        self.attempts.discard(delivery.attempt)
        kept = [known for known in self._unkept if known is not delivery]
        forgotten = len(kept) < len(self._unkept)
        self._unkept = kept
        return forgotten


def _content(file: Path) -> bytes:
    """The content of a regular file of a sensible size; raises BadMessage or OSError."""
    if not file.is_file() or file.stat().st_size > LARGEST_FILE:
        raise BadMessage(f"it is no file of at most {LARGEST_FILE} bytes")
    return file.read_bytes()


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Hold a lock that is free; raises OSError when it is not."""
    with file.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
