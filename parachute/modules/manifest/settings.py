"""The part `settings` of a manifest."""

import re
from functools import partial
from typing import get_args

from parachute.base.document_values import Refused, Value
from parachute.modules.manifest.models import Setting, SettingType

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_TYPES: tuple[SettingType, ...] = get_args(SettingType)


def read_settings(value: Value) -> tuple[Setting, ...]:
    """Read the part."""
    named = value.named(_NAME, "a-z, 0-9 and _ are allowed in the name of a setting.")
    found = (setting.attempt(partial(_setting, name), None) for name, setting in named.items())
    return tuple(setting for setting in found if setting)


def _setting(name: str, value: Value) -> Setting:
    fields = value.fields(("type", "default", "description", "choices"), ("type",))
    kind = fields["type"].one_of(_TYPES)
    choices = fields["choices"].each(Value.text) if "choices" in fields else ()
    if (kind == "choice") != bool(choices):
        value.note("A choice needs them, and other types have none.", name="choices")
        raise Refused
    description = fields["description"].text() if "description" in fields else ""
    if "default" in fields and kind == "secret":
        fields["default"].refuse("A secret has no default: everybody could read it here.")

    def checked(default: Value) -> object:
        return Setting("default", kind, None, "", choices).check(default.plain())

    return Setting(name, kind, fields.read("default", checked, None), description, choices)
