"""The settings that ``langford tune`` found best on the devices of this machine.

The profile is a JSON file, device name → method → setting → value, in the user's configuration
folder; a setting that it does not name has its default.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from langford.errors import LangfordError
from langford.machine.durable import replace_file
from langford.machine.folders import NoHome, base_folder

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Settings = TypeVar("Settings", bound="DataclassInstance")


class BadProfile(LangfordError):
    """The profile of this machine cannot be used; the message says why and what to do."""


def profile_file() -> Path:
    """Where the profile is kept; LANGFORD_PROFILE names another file.  Raises NoHome."""
    named = os.environ.get("LANGFORD_PROFILE")
    return Path(named) if named else base_folder("XDG_CONFIG_HOME", ".config") / "langford" / "profile.json"


def settings_of(device: str, method: str) -> dict[str, Any]:
    """The settings of a method on a device, by the device's name; raises BadProfile."""
    settings = _profile().get(device, {}).get(method, {})
    if not isinstance(settings, dict):
        raise BadProfile(f"{profile_file()}: {device}, {method} holds no settings; run `langford tune` again")
    return settings


def chosen_from(defaults: Settings, chosen: dict[str, Any]) -> Settings:
    """The defaults, a dataclass, with the chosen settings in their place; raises BadProfile for an unknown one."""
    try:
        return replace(defaults, **chosen)
    except TypeError as error:
        raise BadProfile(
            f"{profile_file()} names an unknown setting ({error}); run `langford tune` again"
        ) from error


def save_settings(device: str, method: str, settings: dict[str, Any]) -> Path:
    """Keep the settings of a method on a device; the file.  Raises BadProfile, NoHome or OSError."""
    profile, file = _profile(), profile_file()
    profile.setdefault(device, {})[method] = settings
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, (json.dumps(profile, indent=2) + "\n").encode())
    return file


def _profile() -> dict[str, Any]:
    try:
        file = profile_file()
    except NoHome:
        return {}
    try:
        profile = json.loads(file.read_text("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        is_closed = isinstance(error, PermissionError) and not os.access(file.parent, os.X_OK)
        if is_closed and not os.environ.get("LANGFORD_PROFILE"):
            return {}  # the home folder is another user's
        raise BadProfile(f"{file} cannot be read ({error}); delete it and run `langford tune` again") from error
    if not isinstance(profile, dict) or not all(isinstance(each, dict) for each in profile.values()):
        raise BadProfile(f"{file} is not a profile; delete it and run `langford tune` again")
    return profile
