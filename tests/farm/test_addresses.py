"""Addresses of servers and databases: no password is printed, and a server may be under a path of a proxy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.errors import LedgerUnusable
from db.store.addresses import url_of, without_password
from db.store.database import Database
from jobs.addresses import is_this_machine
from jobs.reach.diagnosis import proxy_of
from jobs.reach.requests import Requests
from langford.errors import BadInput

PLACES = [
    "postgresql://ada:{}@host/records",
    "postgres://ada:{}@host:5432/records?sslmode=require",
    "postgresql://:{}@host",
    "postgresql://host:5432/records?user=ada&password={}",
    "postgresql:/ada:{}@host/records",
    "ada:{}@host/records",
    "https://ada:{}@farm/twelve",
]
passwords = st.text(st.sampled_from("aZ:/@?#&=%[] ;'\"\\\n$é"), max_size=9).map(lambda text: f"QQ{text}QQ")
"""With all that separates the parts of an address, between letters that nothing else contains."""


@given(st.sampled_from(PLACES), passwords)
def test_no_part_of_a_password_is_printed(place: str, password: str) -> None:
    where = place.format(password)
    assert "Q" not in without_password(where)
    if place.startswith("https"):
        with pytest.raises(BadInput) as refused:
            Requests(where, "token")
        assert "Q" not in str(refused.value)


@pytest.mark.parametrize(
    "where",
    [
        "postgresql://ada:QQ@Q/Q@h.invalid/x",
        "postgresql://ada:Q@Q@h.invalid",
        "postgres:/ada:QQ@h/x",
        "ada:QQ@h/x",
        "ada:QQ@h",
    ],
)
def test_a_password_in_the_wrong_form_is_not_taken_for_a_host(where: str) -> None:
    with pytest.raises(LedgerUnusable) as refused:
        Database(where)
    assert "Q" not in str(refused.value)


def test_the_short_name_of_postgres_is_known() -> None:
    with pytest.raises(LedgerUnusable, match="cannot use the ledger") as refused:
        Database("postgres://ada@127.0.0.1:9/records")
    assert "is not a ledger" not in str(refused.value)


@given(passwords)
def test_the_password_of_a_proxy_is_not_printed(password: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("no_proxy", "")
        patched.setenv("https_proxy", f"http://ada:{password}@proxy:3128")
        assert proxy_of("https", "farm") == "proxy:3128"


@pytest.mark.parametrize("host", ["::ffff:127.0.0.1", "::1", "127.0.0.2", "ip6-localhost", "LOCALHOST"])
def test_names_of_this_machine(host: str) -> None:
    assert is_this_machine(host)
    assert not any(map(is_this_machine, ("::ffff:10.0.0.1", "localhost.example", "10.0.0.1")))


@pytest.mark.parametrize("where", [" postgresql://host/name", "l.db\r", "l.db\n"])
def test_a_blank_around_the_name_of_a_ledger_is_no_part_of_it(where: str) -> None:
    with pytest.raises(LedgerUnusable, match="begins or ends with a blank or the end of a line"):
        url_of(where)


def test_a_scheme_in_capitals_is_one() -> None:
    assert url_of("POSTGRESQL://ada@host/Name") == url_of("postgresql://ada@host/Name")
