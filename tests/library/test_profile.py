"""The settings that a machine keeps: found again, and refused when they make no sense."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from langford.machine.folders import NoHome
from langford.machine.profile import BadProfile, chosen_from, profile_file, save_settings, settings_of
from langford.methods.backtracking.cuda import Settings
from langford.methods.necklace.cuda import Launch


@pytest.fixture(autouse=True)
def own_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGFORD_PROFILE", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def test_settings_are_found_again() -> None:
    assert settings_of("some GPU", "miller") == {}
    save_settings("some GPU", "miller", {"lane_colours": 8})
    save_settings("some GPU", "regular", {"lane_colours": 7})
    save_settings("another", "miller", {"threads": 64})
    assert settings_of("some GPU", "miller") == {"lane_colours": 8}
    assert chosen_from(Settings(), settings_of("another", "miller")) == Settings(threads=64)


def test_another_file_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_settings("some GPU", "miller", {"lane_colours": 8})
    monkeypatch.setenv("LANGFORD_PROFILE", str(tmp_path / "other.json"))
    assert settings_of("some GPU", "miller") == {}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"some GPU": 3}', '{"some GPU": {"miller": [8]}}'])
def test_damaged_profiles_are_refused(content: str) -> None:
    profile_file().parent.mkdir(parents=True)
    profile_file().write_text(content)
    with pytest.raises(BadProfile, match="langford tune"):
        settings_of("some GPU", "miller")


@pytest.mark.parametrize(("defaults", "unknown"), [(Settings(), "colour_of_the_case"), (Launch(), "min_blocks")])
def test_settings_that_there_are_not_are_refused(defaults: Settings | Launch, unknown: str) -> None:
    with pytest.raises(BadProfile, match=f"unknown setting .*{unknown}.*; run `langford tune` again"):
        chosen_from(defaults, {unknown: 1})


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "LANGFORD_PROFILE"])
def test_a_profile_below_what_is_no_folder_is_none(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "/dev/null" if variable == "XDG_CONFIG_HOME" else "/dev/null/profile.json")
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


def test_a_profile_in_the_home_of_another_user_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """That folder is closed; a file that is closed itself would have been named."""
    closed = PermissionError(13, "Permission denied")

    def refuse(path: Path, encoding: str) -> str:
        raise closed

    save_settings("some GPU", "miller", {"threads": 64})
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(BadProfile, match="cannot be read"):
        settings_of("some GPU", "miller")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert settings_of("some GPU", "miller") == {}
