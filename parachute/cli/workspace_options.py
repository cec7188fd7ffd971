"""A workspace between the command line's words and the API's."""

from collections.abc import Mapping, Sequence
from typing import Any

from parachute.errors import InvalidInput

_LIMITS = (("memory_megabytes", "--memory", int), ("cpus", "--cpus", float), ("processes", "--processes", int))


def changes(
    name: str | None,
    description: str | None,
    trust: str | None,
    directory: str | None,
    model: str | None,
    choices: Mapping[str, str | None],
    chosen: Mapping[str, Any],
    limits: Sequence[str | None],
) -> dict[str, Any]:
    """What to send for the options that were given; `chosen` are the capabilities that the workspace has now.

    An empty text clears a folder, a model or a limit. Error: InvalidInput for a limit that is no number.
    """
    said: dict[str, Any] = {}
    for field, text in (("name", name), ("description", description), ("default_trust_level", trust)):
        if text is not None:
            said[field] = text
    if directory is not None:
        said["working_directory"] = _absolute(directory) or None
    if model is not None:
        said["model"] = model or None
    given = {kind: _choice(text) for kind, text in choices.items() if text is not None}
    if given:
        said["capabilities"] = {**chosen, **given}
    for (field, option, number), text in zip(_LIMITS, limits, strict=True):
        if text is not None:
            said[field] = _number(option, number, text) if text else None
    return said


def facts(workspace: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What there is to say about a workspace, for people."""
    lines = [
        ("Slug", workspace["slug"]),
        ("Name", workspace["name"]),
        ("Description", workspace["description"]),
        ("Trust", workspace["default_trust_level"]),
        ("Folder", workspace["working_directory"] or ""),
        ("Model", workspace["model"] or ""),
        *((kind.capitalize(), _shown(choice)) for kind, choice in workspace["capabilities"].items()),
        ("Memory", f"{workspace['memory_megabytes']} MB" if workspace["memory_megabytes"] else ""),
        ("Processors", f"{workspace['cpus']:g}" if workspace["cpus"] else ""),
        ("Processes", str(workspace["processes"] or "")),
        ("Declared", "by the system's configuration" if workspace.get("declared") else ""),
    ]
    return [(name, text) for name, text in lines if text]


def _absolute(text: str) -> str:
    """A folder from where the command runs, if it is there; otherwise the words, which may name one of the vault."""
    from pathlib import Path

    path = Path(text)
    return str(path.absolute()) if text and path.is_dir() else text


def _choice(text: str) -> str | list[str]:
    if text in ("all", "none"):
        return text
    return [part.strip() for part in text.split(",") if part.strip()]


def _shown(choice: str | list[str]) -> str:
    return choice if isinstance(choice, str) else ", ".join(choice) or "none"


def _number(option: str, number: type[int] | type[float], text: str) -> int | float:
    try:
        return number(text)
    except ValueError as error:
        raise InvalidInput(f"{option}: {text[:40]!r} is no number.") from error
