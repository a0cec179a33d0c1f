"""Files and their signatures: written together, and who signed."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from langford.errors import BadInput, NotInstalled, WrongResult
from langford.machine.durable import replace_file
from langford.machine.outputs import OutputForm, is_a_device_or_a_pipe, require_replaceable
from langford.words import duration

NAMESPACE = "langford"
SIGNATURE = OutputForm("a signature", b"-----BEGIN SSH SIGNATURE-----")
TIMEOUT_SECONDS = 120.0
"""The time limit of ssh-keygen: long enough for a passphrase to be typed."""
STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
"""Prefixes of names of outputs of this process, which may be files with other names."""


class BadSignature(WrongResult):
    """A signature does not belong to the file, or its key is not among those to trust."""


def signature_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.sig")


def require_place(file: Path, form: OutputForm, key: Path | None) -> None:
    """Check that a file and its signature can be written; see :func:`write`.

    Raises BadInput, NotReplaceable or OSError.
    """
    if key is not None and (is_a_device_or_a_pipe(file) or str(file).startswith(STREAMS)):
        raise BadInput(
            f"{file} is not a file, so no signature can be beside it: give the name of a file, or leave --sign out"
        )
    require_replaceable(file, form)
    require_replaceable(signature_of(file), SIGNATURE)


def write(file: Path, content: bytes, form: OutputForm, key: Path | None, private: bool = False) -> Path | None:
    """Write a file and its signature, or without a key only the file; returns the signature.

    An earlier signature is removed, since it would not match the new file.  If signing fails, nothing is changed.

    Args:
        file: it is there as a whole, or not at all.
        content: what is signed.
        form: that of the file.
        key: a private ssh key, or a public one whose private one an agent has.
        private: only the owner can read the file.

    Raises NotInstalled, BadInput, NotReplaceable or OSError.
    """
    require_place(file, form, key)
    signature, signed = signature_of(file), None if key is None else _signed(content, key)
    if os.path.lexists(signature):
        signature.unlink()
    replace_file(file, content, form, private)
    if signed is None:
        return None
    replace_file(signature, signed, SIGNATURE)
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
