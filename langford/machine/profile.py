"""The settings that ``langford tune`` found best on the devices of this machine.

The profile is a JSON file, device name → method → setting → value, in the user's configuration
folder.  Settings that it does not name have their defaults; all of them have, if it cannot be read.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from langford.machine.durable import FileTooLarge, content, replace_file
from langford.machine.folders import NoHome, base_folder
from langford.machine.kept import say_once
from langford.machine.outputs import OutputForm

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

PROFILE = OutputForm("a profile", rb'\{\s*"[^"]+": \{\s*"[^"]+": \{')
MOST = 2**20
"""Bytes of a profile, at most."""
Settings = TypeVar("Settings", bound="DataclassInstance")


def profile_file() -> Path:
    """Where the profile is kept; raises NoHome."""
    return base_folder("XDG_CONFIG_HOME", ".config") / "langford" / "profile.json"


def settings_of(device: str, method: str) -> dict[str, Any]:
    """The settings of a method on a device, by the device's name; none where the profile cannot be used."""
    settings = _profile().get(device, {}).get(method, {})
    if isinstance(settings, dict):
        return settings
    say_unusable(f"{device}, {method} holds no settings")
    return {}


def chosen_from(defaults: Settings, chosen: dict[str, Any]) -> Settings:
    """The defaults, a dataclass, with the chosen settings in their place, unless one of these cannot be."""
    kinds = get_type_hints(type(defaults))
    for name, value in chosen.items():
        if name not in kinds or not _fits(value, kinds[name]):
            say_unusable(f"it has {name} = {json.dumps(value)}")
            return defaults
    return replace(defaults, **chosen)


def _fits(value: object, kind: Any) -> bool:
    """Whether a value read from the file may be a setting of this type."""
    if value is None or isinstance(value, bool):
        return isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool)
    return isinstance(value, int | float) and value >= 0 and (isinstance(value, kind) or isinstance(0.0, kind))


def save_settings(device: str, method: str, settings: dict[str, Any]) -> Path:
    """Keep the settings of a method on a device; the file.  Raises NoHome, NotReplaceable or OSError."""
    profile, file = _profile(), profile_file()
    profile.setdefault(device, {})[method] = settings
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, (json.dumps(profile, indent=2) + "\n").encode(), PROFILE)
    return file


def say_unusable(reason: str) -> None:
    """Say once that the profile, or a part of it, is not used."""
    say_once(f"{profile_file()} is not used ({reason}): correct or delete it, and run `langford tune` again")


def _profile() -> dict[str, dict[str, Any]]:
    try:
        file = profile_file()
        profile = json.loads(content(file, MOST).decode("utf-8-sig"))
    except (NoHome, FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, FileTooLarge, ValueError, RecursionError) as error:
        is_closed = isinstance(error, PermissionError) and not os.access(file.parent, os.X_OK)
        if not is_closed:  # else the home folder is another user's
            say_unusable(getattr(error, "strerror", None) or str(error))
        return {}
    if isinstance(profile, dict) and all(isinstance(each, dict) for each in profile.values()):
        return profile
    say_unusable("it is not a profile")
    return {}
