"""Signatures of files: what ssh-keygen must not accept."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from jobs.verify import signatures
from jobs.verify.signatures import BadSignature, signature_of, signer
from langford.machine.outputs import OutputForm

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs ssh-keygen")


def key(folder: Path, name: str) -> Path:
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
    subprocess.run(command, check=True)
    return folder / name


FORM = OutputForm("a file", b"what ")


@pytest.fixture
def ada(tmp_path: Path) -> Path:
    return key(tmp_path, "ada")


@pytest.fixture
def signed(tmp_path: Path, ada: Path) -> Path:
    """A file that ada has signed."""
    file = tmp_path / "file"
    assert signatures.write(file, b"what ada said", FORM, ada) == signature_of(file)
    return file


def allowed(ada: Path, options: str = "") -> Path:
    """A file of allowed signers, ada alone."""
    signers = ada.with_name("signers")
    signers.write_text(f"ada@example.org {options} {ada.with_name('ada.pub').read_text()}")
    return signers


def test_a_file_that_was_changed_is_signed_by_nobody(signed: Path, ada: Path) -> None:
    assert signer(signed, allowed(ada)) == "signed by ada@example.org"
    assert signer(signed, None).startswith("signed with the ED25519 key SHA256:")
    signed.write_bytes(b"what ada never said")
    for signers in (allowed(ada), None):
        with pytest.raises(BadSignature, match="one of them was changed"):
            signer(signed, signers)


def test_a_key_that_nobody_allowed_is_not_trusted(signed: Path, ada: Path) -> None:
    signatures.write(signed, b"what eve said", FORM, key(ada.parent, "eve"))
    with pytest.raises(BadSignature, match="do not trust it"):
        signer(signed, allowed(ada))


def test_a_file_without_a_signature_is_not_trusted(signed: Path, ada: Path) -> None:
    """The earlier signature is removed with the content that it was for."""
    signatures.write(signed, b"what nobody signed", FORM, None)
    with pytest.raises(BadSignature, match="is not signed"):
        signer(signed, allowed(ada))


def test_a_signature_for_another_purpose_is_none(signed: Path, ada: Path) -> None:
    """Who signs a commit does not sign results."""
    with pytest.raises(BadSignature):
        signer(signed, allowed(ada, 'namespaces="git"'))
    assert signer(signed, allowed(ada, 'namespaces="langford"')) == "signed by ada@example.org"
    signature_of(signed).unlink()
    subprocess.run(
        ["ssh-keygen", "-q", "-Y", "sign", "-f", ada, "-n", "git", signed], check=True, capture_output=True
    )
    for signers in (allowed(ada), None):
        with pytest.raises(BadSignature):
            signer(signed, signers)


def test_a_key_whose_time_is_over_is_not_trusted(signed: Path, ada: Path) -> None:
    with pytest.raises(BadSignature):
        signer(signed, allowed(ada, 'valid-before="20200101"'))
