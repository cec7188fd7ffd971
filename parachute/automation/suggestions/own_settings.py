"""The computer's own settings as what a suggestion is about: its maintenance agent proposes a change, an owner decides."""

import hashlib
import json
from typing import Any

from parachute.automation.suggestions.previews import Previewed, previewed
from parachute.base.errors import Conflict, InvalidInput
from parachute.config.settings.home import Home
from parachute.config.settings.store import check_value, read_document, set_value

SETTINGS = "settings"
"""In the place of a module's name; no module can have it."""


class OwnSettings:
    """`config.yaml` as a target; every method waits for the disk."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def inspect(self, payload: dict[str, Any]) -> tuple[str, str]:
        """(version, title) of the setting that a payload `{name, value}` is about; error: InvalidInput for what cannot be."""
        name, text = _read(payload)
        check_value(self._home, name, text)
        return self._version(name), f"{name}: {text}"

    def preview(self, payload: dict[str, Any], is_waiting: bool) -> Previewed:
        """The setting as it is and as a payload makes it; of what was decided only the latter is known."""
        name, text = _read(payload)
        now = json.dumps(_value(read_document(self._home), name), ensure_ascii=False, default=str)
        return previewed(name, f"{name}: {now}\n" if is_waiting else None, f"{name}: {text}\n")

    def apply(self, payload: dict[str, Any], expected_version: object) -> dict[str, Any]:
        """Write the setting; errors: Conflict when it was changed since, InvalidInput."""
        name, text = _read(payload)
        if self._version(name) != expected_version:
            raise Conflict(
                f"The setting {name} was changed since.",
                "`parachute config` shows it as it is now.",
                key="setting_changed",
            )
        set_value(self._home, name, text)
        return {"name": name, "value": payload["value"], "holds": "from the next start on (`parachute restart`)"}

    def is_applied(self, payload: dict[str, Any]) -> bool:
        """True if the setting has this value now."""
        name, _ = _read(payload)
        return bool(_value(read_document(self._home), name) == payload["value"])

    def _version(self, name: str) -> str:
        text = json.dumps(_value(read_document(self._home), name), sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def _read(payload: dict[str, Any]) -> tuple[str, str]:
    if payload.keys() != {"name", "value"} or not isinstance(payload["name"], str):
        raise InvalidInput(
            "payload: the `name` of a setting and its `value` are expected, and nothing else.", key="setting_incomplete"
        )
    # JSON is YAML, too, which is what the file is written in.
    return payload["name"], json.dumps(payload["value"], ensure_ascii=False)


def _value(document: object, name: str) -> object:
    for part in name.split("."):
        document = document.get(part) if isinstance(document, dict) else None
    return document
