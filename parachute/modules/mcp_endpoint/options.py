"""Everything that the owner can choose from for a grant, and the check of what was chosen."""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, timedelta
from json import loads
from pathlib import Path

from parachute.base.answers import Answer
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.modules.manifest.models import RESOURCE_NAMES
from parachute.modules.mcp_endpoint.policy import is_below, may_be_offered
from parachute.modules.mcp_endpoint.resources.models import Offer
from parachute.modules.mcp_endpoint.shapes import CONVERSATION, ENTRY, FILE, SHAPES, SUGGESTED
from parachute.modules.runtime.models import OfferedTool
from parachute.modules.runtime.service import Hosts
from parachute.security.mcp_clients.models import ANY, Limits

_DEPTH = 3
_MOST_FOLDERS = 300
_LONGEST = timedelta(days=366)
_TYPES = "brain-types"


class OfferedChoice(Answer, frozen=True):
    """A tool for a grant; `suggests`: what it would write waits for the owner. `needs_everything`: its answers cannot be judged."""

    name: str
    module: str
    description: str
    suggests: bool
    needs_everything: bool


class NamedWorkspace(Answer, frozen=True):
    """A workspace by its name."""

    slug: str
    name: str


class Options(Answer, frozen=True):
    """Everything that can be in a grant."""

    tools: list[OfferedChoice]
    folders: list[str]
    kinds: list[str]
    workspaces: list[NamedWorkspace]
    today: date
    last_day: date


def choices(tools: Iterable[OfferedTool], offers: Iterable[Offer]) -> list[OfferedChoice]:
    """The tools that any grant can have, and kinds of resources."""
    return [
        *(
            OfferedChoice(each.name, each.module, each.description, suggests=False, needs_everything=False)
            for each in offers
        ),
        *(
            OfferedChoice(
                each.name,
                each.module,
                each.description,
                suggests=not each.reads_only,
                needs_everything=each.reads_only and each.name not in SHAPES,
            )
            for each in tools
            if (each.reads_only or each.name in SUGGESTED) and each.name not in RESOURCE_NAMES
        ),
    ]


async def kinds(hosts: Hosts) -> list[str]:
    """The kinds of what is in the vault; without Brain there are no entities."""
    found: list[str] = []
    with suppress(ParachuteError, ValueError, KeyError, TypeError):
        answer = loads(await hosts.call_tool(_TYPES, {"action": "list"}, "consent"))
        found = sorted(str(each["name"]) for each in answer["types"])
    own = [ENTRY, CONVERSATION, FILE]
    return [*own, *(each for each in found if each not in own)]


def folders(vault: Path) -> list[str]:
    """Folders of the vault, three deep, neither links nor hidden ones; waits for the disk."""
    found: list[str] = []
    waiting = [""]
    while waiting and len(found) < _MOST_FOLDERS:
        above = waiting.pop(0)
        with suppress(OSError), os.scandir(vault / above) as entries:
            names = sorted(
                each.name
                for each in entries
                if not each.name.startswith(".") and each.is_dir(follow_symlinks=False) and each.name.isprintable()
            )
            inside = [f"{above}/{name}" if above else name for name in names]
            found += inside
            waiting += [each for each in inside if each.count("/") < _DEPTH - 1]
    return sorted(found[:_MOST_FOLDERS])


def last_day(today: date) -> date:
    """The latest day on which a grant may end."""
    return today + _LONGEST


def checked(limits: Limits, tools: Sequence[OfferedTool], offers: Iterable[Offer], today: date) -> Limits:
    """Limits that can be; error: InvalidInput naming the field."""
    offered: Mapping[str, OfferedTool] = {each.name: each for each in tools}
    judged = {each.name for each in offers}
    for name in limits.tools:
        if name in judged:
            continue
        if name not in offered or not may_be_offered(offered[name], limits):
            needs = name in offered and offered[name].reads_only
            raise InvalidInput(
                f"tools: {name[:80]!r} cannot be in this grant.",
                "What it answers cannot be judged: it needs everything, of all times." if needs else None,
                key="tool_not_offered",
            )
    for folder in limits.folders:
        if folder != ANY and not is_below(f"{folder}/x", (ANY,)):
            raise InvalidInput(
                f"folders: {folder[:80]!r} is no folder of the vault.",
                "Write it such as Daily/journals.",
                key="invalid_folder",
            )
    if limits.since and limits.until and limits.since > limits.until:
        raise InvalidInput("until: the last day is before the first one.", key="invalid_span")
    if not today <= limits.ends_on <= last_day(today):
        raise InvalidInput("ends_on: a day from today to a year from now is expected.", key="invalid_end")
    return limits
