"""The certificate that a server makes for itself, and the names that a certificate has.

One file has all of it: the server's key and certificate, then the authority that signed it, with its key.  OpenSSL
reads the first key and the certificates.  The authority stays the same, so that workers trust a server that is
started again, also under more names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from langford.errors import BadInput, NotInstalled
from langford.machine.durable import replace_file
from langford.machine.outputs import headed
from langford.version import install

HEADING = b"# the certificate of a langford server, made by itself\n"
FORM = headed("a certificate", HEADING)
BLOCKS = re.compile(rb"-----BEGIN ([A-Z ]+)-----.+?-----END \1-----\n", re.DOTALL)


def own_certificate(file: Path, names: Sequence[str]) -> str:
    """Write a server's certificate for some names; returns that of its authority, which workers trust, PEM.

    Args:
        file: for the user alone.  The authority in it is kept; an empty or damaged one is made anew.
        names: host names and IP addresses.

    Raises NotInstalled, BadInput where the file is something else, and OSError.
    """
    try:
        from trustme import CA
    except ImportError as error:
        raise NotInstalled(f"a server needs trustme for its certificate ({error}): {install('server')}") from error
    before = file.read_bytes() if file.exists() else b""
    if before and not before.startswith(HEADING[: len(before)]):
        raise BadInput(f"{file} is not a certificate that a server made for itself: move it to another name")
    authority = CA(organization_name="langford")
    blocks = [found[0] for found in BLOCKS.finditer(before)]
    with suppress(ValueError, IndexError):
        authority = CA.from_pem(blocks[-2], blocks[-1])
    leaf = authority.issue_cert(*names, organization_name="langford")
    parts = leaf.private_key_pem, *leaf.cert_chain_pems, authority.cert_pem, authority.private_key_pem
    replace_file(file, HEADING + b"".join(part.bytes() for part in parts), FORM, private=True)
    return authority.cert_pem.bytes().decode()


def certificates_of(chain: Path) -> str:
    """The certificates in a file, without a key that it may have too, PEM."""
    blocks = BLOCKS.finditer(chain.read_bytes())
    return "".join(found[0].decode() for found in blocks if found[1] == b"CERTIFICATE")


def names_in(chain: Path) -> list[str]:
    """The host names and IP addresses for which the first certificate of a file was issued, without patterns."""
    from cryptography.x509 import (
        DNSName,
        ExtensionNotFound,
        IPAddress,
        SubjectAlternativeName,
        load_pem_x509_certificates,
    )

    first, *_ = load_pem_x509_certificates(chain.read_bytes())
    try:
        names = first.extensions.get_extension_for_class(SubjectAlternativeName).value
    except ExtensionNotFound:
        return []
    hosts = [*names.get_values_for_type(DNSName), *map(str, names.get_values_for_type(IPAddress))]
    return [host for host in hosts if not host.startswith("*")]
