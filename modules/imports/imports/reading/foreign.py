"""Exports of programs that are not read here, known by their shape: whoever brings one hears its name."""

from collections.abc import Iterable
from typing import Any

from imports.reading.archive import Refused
from imports.reading.conversation import fields_of, items_of, text_of
from imports.reading.places import NAMES

READ = "Exports of ChatGPT, Claude, Gemini, LibreChat, LM Studio and Open WebUI, and the conversations of an older Parachute, are read"
_TAKEOUT = "Google Takeout without the activities of Gemini (My Activity, Gemini Apps)"
_NODES = 5


def program_of(value: Any) -> str | None:
    """The program whose export has such an element; None for an unknown one."""
    found = fields_of(value)
    if text_of(found.get("header")) and "time" in found and "title" in found:
        return _TAKEOUT
    if isinstance(found.get("conversation"), dict) and isinstance(found.get("responses"), list):
        return "Grok"
    nodes = [fields_of(node) for node in list(fields_of(found.get("mapping")).values())[:_NODES]]
    if any(isinstance(fields_of(node.get("message")).get("fragments"), list) for node in nodes):
        return "DeepSeek"
    return None


def program_of_archive(names: Iterable[str]) -> str | None:
    """The program whose archives have such names."""
    for name in names:
        parts = name.lower().split("/")
        if "takeout" in parts[:2]:
            return NAMES["gemini"] if any("gemini" in part or "bard" in part for part in parts) else _TAKEOUT
        if parts[-1] == "prod-grok-backend.json":
            return "Grok"
    return None


def refuse(program: str | None) -> Refused:
    """The refusal of an export, by the name of its program: of one that is another's than was named, or that is not read."""
    if program is None:
        return Refused(f"This is no export that is known here: nothing in it is a conversation. {READ}.")
    if kind := next((each for each, name in NAMES.items() if name == program), None):
        return Refused(f"This is an export of {program}. Name its kind: `parachute import {kind} FILE`.")
    return Refused(f"This is an export of {program}, which is not read. {READ}.")


def manifest_names(value: Any) -> list[str] | None:
    """The names of the archives that a manifest of Claude lists; None for anything else."""
    files = fields_of(value).get("data_files")
    if not isinstance(files, list):
        return None
    return [name for each in items_of(files) if (name := text_of(fields_of(each).get("filename"))[:100])]
