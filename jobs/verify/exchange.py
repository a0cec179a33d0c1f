"""Results in files: moved between ledgers, merged without a ledger, and signed by whoever exported them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

from db import Campaign, Export, Ledger, joined, read_export
from db.errors import BadExport, Unreplicated
from db.files.reading import agreed_plan, in_words
from db.identity import Identity
from db.states import EventKind
from jobs.run.loop import with_replication
from langford.errors import BadInput, CheckFailed, NotInstalled, WrongResult
from langford.machine.durable import is_a_device_or_a_pipe, replace_file, require_replaceable
from langford.machine.process import user
from langford.methods import Count, Plan, merge
from langford.words import duration

NAMESPACE = "langford"
TIMEOUT_SECONDS = 120.0
"""The time limit of ssh-keygen: long enough for a passphrase to be typed."""
STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
"""Prefixes of names that stand for outputs of this process, which may be files with other names."""


def plan_for(export: Export) -> Plan:
    """The plan of an export; raises CampaignMismatch when this version splits the problem in another way."""
    return agreed_plan(export.name, export.key, export.tasks)


def validated(file: Path) -> Export:
    """The export in a file, each of its results checked by itself; raises BadExport."""
    export = read_export(file)
    plan = plan_for(export)
    for evaluation in export.results:
        try:
            plan.expectation(evaluation.result.index).check(evaluation.result)
        except CheckFailed as error:
            raise BadExport(f"{in_words(file)} has a wrong result: {error}") from error
    return export


def take(ledger: Ledger, file: Path) -> tuple[Campaign, list[EventKind | None]]:
    """Import a file into a ledger, see :func:`take_export`; raises BadExport too."""
    return take_export(ledger, validated(file), file)


def take_export(
    ledger: Ledger, export: Export, file: Path | None = None
) -> tuple[Campaign, list[EventKind | None]]:
    """Import the export of a file into a ledger in one transaction; the campaign is created unless it exists.

    Args:
        ledger: it records the name of the file, its SHA-256, and who imported it.
        export: the content of the file.
        file: the one that was read; None: the export is of no file.

    Returns the campaign, and the event of each result that is new to the ledger, see db.Ledger.take.
    Raises CampaignMismatch or CheckFailed.
    """
    identity = Identity.fresh()
    where = "no file" if file is None else f"{_shown(Path(in_words(file)).name)}, SHA-256 {export.sha256}"
    source = f"{where}, imported by {user()} on {identity.host}"
    return ledger.take(export, plan_for(export), identity.worker_id, identity.host, identity.process, source)


def _shown(name: str) -> str:
    """Replaces characters that databases or terminals would interpret."""
    return "".join(character if character.isprintable() else "?" for character in name)


def count_of(files: Sequence[Path], unconfirmed: bool = False) -> tuple[Export, Count]:
    """The results of several files of one campaign, and the count that follows from them.

    Args:
        files: each result is in one of them, or the same in several.
        unconfirmed: merge although the files do not tell of all drawn results that others confirmed them.

    Raises BadExport, CampaignMismatch, Incomplete, ConflictingResults, CheckFailed or Unreplicated.
    """
    export = joined([read_export(file) for file in files])
    return export, merged(export, files, unconfirmed)


def merged(export: Export, files: Sequence[Path], unconfirmed: bool = False) -> Count:
    """Arguments and errors as :func:`count_of`."""
    count = merge(plan_for(export), [evaluation.result for evaluation in export.results])
    if export.promise is None:
        return count
    if export.promise.missing and not unconfirmed:
        words, missing = export.promise.replication.words, export.promise.missing
        named = shlex.join(map(str, files))
        together = (
            "; of several files, the largest share applies to all, and a result is confirmed only if each file "
            "that has it confirms it"
        )
        raise Unreplicated(
            f"{export.name} has {words}, as its files say{together if len(files) > 1 else ''}: {missing:,} wait; "
            f"get an export that was written when they were confirmed, or decide here: `langford import {named}`, "
            f"then `langford verify {export.name} --waiting`, or print the count as it is: "
            f"`langford result --from {named} --unconfirmed`"
        )
    return with_replication(count, export.promise.replication)


class BadSignature(WrongResult):
    """A signature does not belong to the file, or its key is not among those to trust."""


def signature_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.sig")


def require_place(file: Path, key: Path | None) -> None:
    """Check that a file and its signature can be written; see :func:`write`.

    Raises BadInput, NotReplaceable or OSError.
    """
    if key is not None and (is_a_device_or_a_pipe(file) or str(file).startswith(STREAMS)):
        raise BadInput(
            f"{file} is not a file, so no signature can be beside it: give the name of a file, or leave --sign out"
        )
    require_replaceable(file)
    require_replaceable(signature_of(file))


def write(file: Path, content: bytes, key: Path | None, private: bool = False) -> Path | None:
    """Write a file and its signature, or without a key only the file; returns the signature.

    An earlier signature is removed, since it would not match the new file.  If signing fails, nothing is changed.

    Args:
        file: it is there as a whole, or not at all.
        content: what is signed.
        key: a private ssh key, or a public one whose private one an agent has.
        private: only the owner can read the file.

    Raises NotInstalled, BadInput, NotReplaceable or OSError.
    """
    require_place(file, key)
    signature, signed = signature_of(file), None if key is None else _signed(content, key)
    if os.path.lexists(signature):
        signature.unlink()
    replace_file(file, content, private)
    if signed is None:
        return None
    replace_file(signature, signed)
    return signature


def _signed(content: bytes, key: Path) -> bytes:
    done = _keygen("-Y", "sign", "-f", str(key), "-n", NAMESPACE, content=content)
    if done.returncode:
        raise BadInput(f"ssh-keygen cannot sign with {key} ({_reason(done)}): give a private ssh key")
    return done.stdout


def signer(file: Path, allowed: Path | None) -> str:
    """Who signed a file, in words: "signed by ada", or "unsigned: …".

    Args:
        file: with its signature beside it, if there is one.
        allowed: a file of allowed signers, see ssh-keygen; None: the key is named by its fingerprint.

    Raises NotInstalled, OSError, and BadSignature when the signature does not belong to the file and to an allowed
    signer.
    """
    signature, content = signature_of(file), file.read_bytes()
    if not signature.exists():
        if allowed is not None:
            raise BadSignature(f"{file} is not signed: ask someone you trust for {signature.name}")
        return "unsigned: the author is unknown; the contents were checked"
    given = ("-n", NAMESPACE, "-s", str(signature))
    if allowed is None:
        done = _keygen("-Y", "check-novalidate", *given, content=content)
        _require(done, file)
        named = re.search(r"with (\S+ key \S+)", done.stdout.decode(errors="replace"))
        return f"signed with the {named[1] if named else 'key'}; --allowed-signers FILE shows whose it is"
    principals = _keygen("-Y", "find-principals", "-s", str(signature), "-f", str(allowed))
    names = principals.stdout.decode(errors="replace").split()
    if principals.returncode or not names:
        raise BadSignature(f"{file} is signed with a key that is not in {allowed}: do not trust it")
    _require(_keygen("-Y", "verify", *given, "-f", str(allowed), "-I", names[0], content=content), file)
    return f"signed by {names[0]}"


def _require(done: subprocess.CompletedProcess[bytes], file: Path) -> None:
    """Raises BadSignature unless ssh-keygen accepted the signature."""
    if done.returncode:
        raise BadSignature(
            f"the signature of {file} does not belong to it ({_reason(done)}): one of them was changed"
        )


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


def _keygen(*arguments: str, content: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["ssh-keygen", *arguments], input=content, capture_output=True, timeout=TIMEOUT_SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise NotInstalled("signatures need ssh-keygen: install OpenSSH's client") from error
    except subprocess.TimeoutExpired as error:
        raise BadInput(
            f"ssh-keygen did not answer in {duration(TIMEOUT_SECONDS)}: use a key without a passphrase, or an agent"
        ) from error
