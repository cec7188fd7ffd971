"""What Brain knows, as people read it on a terminal."""

from typing import Any

from parachute.cli.api import Api
from parachute.cli.output import clean, print_table
from parachute.errors import ParachuteError

_ENTRIES = 3
_SUGGESTIONS = 200


def print_entities(found: list[dict[str, Any]]) -> None:
    """A table of entities."""
    rows = [
        (clean(each["name"]), clean(str(each.get("type") or "")), each["para_id"], clean(each.get("path") or ""))
        for each in found
    ]
    print_table(["Name", "Type", "Id", "File"], rows)


def shown(entity: dict[str, Any]) -> str:
    """One entity with its text."""
    lines = [f"{entity['name']} ({entity['type']})", f"{entity['para_id']}  {entity['path']}"]
    for field in ("aliases", "tags"):
        if entity.get(field):
            lines.append(f"{field.capitalize()}: {', '.join(entity[field])}")
    text = str(entity.get("content") or "").strip()
    return clean("\n".join([*lines, "", text]) if text else "\n".join(lines))


def link_rows(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Links of an entity, and what else is about it, for a table."""
    ways = {"out": "to", "in": "from"}
    rows = [(ways[each["direction"]], str(each["target"]), each["note"] or each["kind"]) for each in found["links"]]
    return [*rows, *(("in", each["source_id"], str(each["at"])[:10]) for each in found["mentions"])]


def waiting_for(api: Api, text: str) -> list[str]:
    """What else a person may have meant: suggestions that wait, and entries of the journal. Who does not answer is left out."""
    lines: list[str] = []
    words = text.casefold().split()
    try:
        for each in api.get("/api/suggestions", status="pending", limit=_SUGGESTIONS)["suggestions"]:
            if any(word in each["title"].casefold() for word in words):
                lines.append(f"{each['title']} waits for your decision: `parachute suggestions approve {each['id']}`")
    except ParachuteError:
        pass
    try:
        for each in api.get("/api/daily/search", q=text, limit=_ENTRIES)["entries"]:
            if each["id"]:
                lines.append(f"The journal of {each['date']} has it: `parachute daily show {each['id']}`")
    except ParachuteError:
        pass
    return lines
