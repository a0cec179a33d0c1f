"""The settings that a machine keeps: found again, and refused when they make no sense."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from langford.machine import profile
from langford.machine.folders import NoHome
from langford.machine.outputs import NotReplaceable
from langford.machine.profile import chosen_from, profile_file, save_settings, settings_of
from langford.methods.backtracking.cuda import SearchSettings
from langford.methods.godfrey.cuda import GodfreyLaunch


@pytest.fixture(autouse=True)
def own_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def test_settings_are_found_again() -> None:
    assert settings_of("some GPU", "miller") == {}
    save_settings("some GPU", "miller", {"lane_colours": 8})
    save_settings("some GPU", "regular", {"lane_colours": 7})
    save_settings("another", "miller", {"threads": 64})
    assert settings_of("some GPU", "miller") == {"lane_colours": 8}
    profile_file().write_bytes(b"\xef\xbb\xbf" + profile_file().read_bytes())  # as some editors do
    assert chosen_from(SearchSettings(), settings_of("another", "miller")) == SearchSettings(threads=64)


DAMAGED = ["", "{", "[]", '{"some GPU": 3}', '{"some GPU": {"miller": [8]}}', "\0" * 70, "[" * 99999, "\ud800"]


@pytest.mark.parametrize("content", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_profile_is_said_once_and_stays(content: str, capfd: pytest.CaptureFixture[str]) -> None:
    profile_file().parent.mkdir(parents=True)
    profile_file().write_bytes(content.encode(errors="surrogatepass"))
    for _ in range(2):
        assert settings_of("some GPU", "miller") == {}
    (said,) = capfd.readouterr().err.splitlines()
    assert said.startswith(f"langford: {profile_file()} is not used (")
    assert said.endswith("): correct or delete it, and run `langford tune` again")
    if content:
        with pytest.raises(NotReplaceable):
            save_settings("some GPU", "regular", {"threads": 64})
        profile_file().unlink()
    save_settings("some GPU", "regular", {"threads": 64})
    assert settings_of("some GPU", "regular") == {"threads": 64}


@pytest.mark.parametrize(
    ("defaults", "name", "value"),
    [
        (SearchSettings(), "colour_of_the_case", 1),
        (GodfreyLaunch(), "streams", 1),
        (SearchSettings(), "threads", "64"),
        (SearchSettings(), "threads", -64),
        (SearchSettings(), "threads", None),
        (SearchSettings(), "threads", True),
        (SearchSettings(), "threads", [64]),
        (SearchSettings(), "persistent", 1),
        (SearchSettings(), "cpu_share", float("nan")),
    ],
)
def test_settings_that_cannot_be_are_said_and_not_used(
    defaults: SearchSettings | GodfreyLaunch, name: str, value: object, capfd: pytest.CaptureFixture[str]
) -> None:
    assert chosen_from(defaults, {name: value}) is defaults
    assert f"{profile_file()} is not used (it has {name} = " in capfd.readouterr().err


def test_settings_of_all_kinds_are_used() -> None:
    chosen = {"blocks": 2, "computing": None, "cpu_share": 0, "persistent": False}
    assert chosen_from(SearchSettings(), chosen) == SearchSettings(
        blocks=2, computing=None, cpu_share=0.0, persistent=False
    )


def test_a_profile_below_what_is_no_folder_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/dev/null")
    assert settings_of("some GPU", "miller") == {}


def test_a_user_without_a_home_has_no_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(user: int) -> None:
        raise KeyError(user)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", "config")
    assert settings_of("some GPU", "miller") == {}
    with pytest.raises(NoHome, match="set XDG_CONFIG_HOME to"):
        save_settings("some GPU", "miller", {"threads": 64})


def test_a_profile_in_the_home_of_another_user_is_none(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """That folder is closed; a file that is closed itself is named."""

    def refuse(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(profile, "content", refuse)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert settings_of("some GPU", "miller") == {}
    assert capfd.readouterr().err == ""
    monkeypatch.setattr(os, "access", lambda path, mode: True)
    assert settings_of("some GPU", "miller") == {}
    assert f"{profile_file()} is not used (Permission denied)" in capfd.readouterr().err
