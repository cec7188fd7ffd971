"""The table of options of docs/nixos.md, which `make docs` puts in."""

from typing import Any

_ALL = "services.parachute."


def table(found: list[dict[str, Any]]) -> str:
    """All options with type, default and description, as Markdown; the beginning of their names is left out."""
    rows = ["| option | type | default | what it is |", "|---|---|---|---|"]
    for each in sorted(found, key=lambda option: str(option["name"])):
        name = str(each["name"]).removeprefix(_ALL)
        default = "" if each["default"] is None else f"`{_cell(each['default'])}`"
        rows.append(f"| `{name}` | {_cell(each['type'])} | {default} | {_cell(each['description'])} |")
    return "\n".join(rows)


def _cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")
