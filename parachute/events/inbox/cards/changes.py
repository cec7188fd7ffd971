"""Changes of a run that wait for the owner."""

from collections.abc import Mapping
from typing import Any

from parachute.base.changed_lines import one_line, waiting_lines
from parachute.events.inbox.card import Card, asker, kind, name, words
from parachute.events.inbox.models import Item


def _lines(details: Mapping[str, Any]) -> list[str]:
    lines = [line.removeprefix("    ") for line in waiting_lines(details["files"])]
    if details["more"]:
        lines.append(f"… {details['more']} more")
    for path, difference in details["diffs"].items():
        lines += ["", one_line(path), *(difference or "").splitlines()] if difference else []
    return lines


@kind(lines=_lines)
def card(item: Item) -> Card:
    files, more = item.details["files"], item.details["more"]
    project = name(str(item.details["project"]).rpartition("/")[2])
    what = name(files[0]["path"]) if len(files) == 1 and not more else f"{len(files) + more} files"
    return words(
        item,
        f"{asker(item)} wants to change {what} in {project}.",
        apply=(
            "Apply",
            f"{what} was changed in {project}." if len(files) == 1 else f"{what} were changed in {project}.",
        ),
        throw_away=("Discard", f"{project} stays as it is."),
    )
