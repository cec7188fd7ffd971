"""The part `settings` of a manifest."""

import re
from typing import Any, get_args

import yaml

from parachute.base.documents import line_of
from parachute.manifest.document import Document, Refused, joined
from parachute.manifest.models import Setting, SettingType

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_TYPES: tuple[SettingType, ...] = get_args(SettingType)


def read_settings(document: Document, node: yaml.Node | None) -> tuple[Setting, ...]:
    """Read the part; problems go to the document."""
    if node is None:
        return ()
    try:
        named = document.mapping(node, "settings", None)
    except Refused:
        return ()
    found: list[Setting] = []
    for name, value in named.items():
        try:
            found.append(_setting(document, name, value))
        except Refused:
            continue
    return tuple(found)


def _setting(document: Document, name: str, node: yaml.Node) -> Setting:
    where = joined("settings", name)
    if not _NAME.fullmatch(name):
        document.refuse(line_of(node), where, "a-z, 0-9 and _ are allowed in the name of a setting.")
    fields = document.mapping(node, where, ("type", "default", "description", "choices"), ("type",))
    if "type" not in fields:
        raise Refused
    text = document.text(fields["type"], joined(where, "type"))
    kind = next((known for known in _TYPES if known == text), None)
    if kind is None:
        document.refuse(line_of(fields["type"]), joined(where, "type"), f"One of {', '.join(_TYPES)} is allowed.")
        raise Refused
    choices = document.texts(fields["choices"], joined(where, "choices")) if "choices" in fields else ()
    if (kind == "choice") != bool(choices):
        document.refuse(line_of(node), joined(where, "choices"), "A choice needs them, and other types have none.")
    description = document.text(fields["description"], joined(where, "description")) if "description" in fields else ""
    setting = Setting(name, kind, None, description, choices)
    if "default" not in fields:
        return setting
    place = joined(where, "default")
    if kind == "secret":
        document.refuse(line_of(fields["default"]), place, "A secret has no default: everybody could read it here.")
    default: Any = document.plain(fields["default"], place)
    checked = document.attempt(
        fields["default"], place, lambda: Setting("default", kind, None, "", choices).check(default), None
    )
    return Setting(name, kind, checked, description, choices)
