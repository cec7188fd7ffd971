"""Exports of programs that are not read here, known by their shape: whoever brings one hears its name."""

from collections.abc import Iterable
from typing import Any

from imports.reading.archive import Refused
from imports.reading.conversation import fields_of, items_of, text_of

READ = "Exports of ChatGPT, Claude and Open WebUI, and the conversations of an older Parachute, are read"
_NODES = 5


def program_of(value: Any) -> str | None:
    """The program whose export has such an element; None for an unknown one."""
    found = fields_of(value)
    if "conversationId" in found and isinstance(found.get("messages"), list):
        return "LibreChat"
    header = text_of(found.get("header")).lower()
    if header and "time" in found and "title" in found:
        return "Gemini, from Google Takeout" if "gemini" in header or "bard" in header else "Google Takeout"
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
            is_gemini = any("gemini" in part or "bard" in part for part in parts)
            return "Gemini, from Google Takeout" if is_gemini else "Google Takeout"
        if parts[-1] == "prod-grok-backend.json":
            return "Grok"
    return None


def refuse(program: str | None) -> Refused:
    """The refusal of an export, by the name of its program; of one that nobody knows."""
    if program is None:
        return Refused(f"This is no export that is known here: nothing in it is a conversation. {READ}.")
    return Refused(f"This is an export of {program}, which is not read. {READ}.")


def manifest_names(value: Any) -> list[str] | None:
    """The names of the archives that a manifest of Claude lists; None for anything else."""
    files = fields_of(value).get("data_files")
    if not isinstance(files, list):
        return None
    return [name for each in items_of(files) if (name := text_of(fields_of(each).get("filename"))[:100])]
