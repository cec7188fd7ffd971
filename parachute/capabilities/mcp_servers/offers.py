"""Offer of an MCP server: its tools as agents get them, and those that are left out, each with its reason."""

import json
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from parachute.base.answers import LeftOut
from parachute.base.errors import InvalidInput
from parachute.capabilities.mcp_servers.schemas import mended
from parachute.chat.agent_processes.tools import problem_of, problem_of_size
from parachute.modules.runtime.models import OfferedTool

DESCRIPTION_LIMIT = 2_000
"""Characters."""

MOST_READ = 500
"""Tools of a server that are read."""

_MOST = 200
_SCHEMAS = 256 * 1024
"""Characters of all schemas and descriptions of a server together: reading them takes time, and each turn of a chat pays for them.

Those of results have as many of their own: without them a tool is as good, and none is left out for theirs.
"""

_SHOWN = 64
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")


class Offer(Struct, frozen=True):
    """The tools that agents get; `names` are those under which the server knows the ones that are called otherwise.

    `outputs` are the schemas of structured results, by the tool; `own` are tools of ours, which the server does not know.
    """

    tools: tuple[OfferedTool, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    names: dict[str, str] = {}
    outputs: dict[str, dict[str, Any]] = {}
    own: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The parts that are left out, in a sentence; empty if all is there."""
        if not self.left_out:
            return ""
        named = "; ".join(f"{each.name} ({each.reason})" for each in self.left_out[:5])
        more = len(self.left_out) - 5
        return f"{len(self.left_out)} left out: {named}{f'; and {more} more' if more > 0 else ''}."


def offer_of(server: str, said: Sequence[dict[str, Any]]) -> Offer:
    """The offer of a server that lists these tools, by name; takes time."""
    found: dict[str, OfferedTool] = {}
    names: dict[str, str] = {}
    outputs: dict[str, dict[str, Any]] = {}
    own: list[str] = []
    left_out: list[LeftOut] = []
    read: set[tuple[str, str, str]] = set()
    left = left_for_outputs = _SCHEMAS
    for number, each in sorted(enumerate(said[:MOST_READ], 1), key=_order):
        name = each["name"]
        if not isinstance(name, str) or not name:
            left_out.append(LeftOut(f"number {number}", "it has no name"))
            continue
        refused = partial(LeftOut, "".join(sign if sign.isprintable() else "�" for sign in name[:_SHOWN]))
        known = _NOT_IN_A_NAME.sub("_", name)
        description = each["description"][:DESCRIPTION_LIMIT] if isinstance(each["description"], str) else ""
        # Before anything else is done with it, which takes much longer.
        if (problem := problem_of_size(each["input_schema"])) is not None:
            left_out.append(refused(problem))
            continue
        if (said_now := (name, description, json.dumps(each["input_schema"], sort_keys=True))) in read:
            continue  # its page was sent twice
        if (size := len(description) + len(said_now[2])) > left:
            left_out.append(refused(f"what the tools say of themselves has more than {_SCHEMAS:,} characters"))
            continue
        read.add(said_now)
        left -= size
        output, shown = _output(each.get("output_schema"), left_for_outputs)
        left_for_outputs -= len(shown)
        description += shown if len(description) + len(shown) <= DESCRIPTION_LIMIT else ""
        try:
            tool = OfferedTool(server, known, description, mended(each["input_schema"]))
        except InvalidInput as error:
            left_out.append(refused(error.message))
            continue
        if (problem := problem_of(tool)) is not None:
            left_out.append(refused(problem))
        elif known in found:
            if each.get("is_ours"):
                continue
            left_out.append(refused("another tool is called the same"))
        elif len(found) == _MOST:
            left_out.append(refused(f"no more than {_MOST} tools of a server are offered"))
        else:
            found[known] = tool
            own += [known] if each.get("is_ours") else []
            outputs |= {known: output} if output else {}
            if known != name:
                names[known] = name
    if len(said) > MOST_READ:
        left_out.append(LeftOut("all others", f"no more than {MOST_READ} tools of a server are read"))
    return Offer(
        tuple(sorted(found.values(), key=lambda tool: tool.name)),
        tuple(dict.fromkeys(left_out)),
        names,
        outputs,
        tuple(own),
    )


def _output(said: Any, most: int) -> tuple[dict[str, Any], str]:
    """The schema of a tool's results, and a sentence about it; empty where there is none, and for one that cannot be read."""
    if not isinstance(said, dict) or problem_of_size(said) is not None or len(json.dumps(said)) > most:
        return {}, ""
    try:
        found = mended(said)
    except InvalidInput:
        return {}, ""
    return found, f"\n\nIt answers with JSON of this schema: {json.dumps(found, ensure_ascii=False)}"


def _order(numbered: tuple[int, dict[str, Any]]) -> tuple[bool, bool, str]:
    # A tool that is called so goes before one that only comes to be called so, and a server's before ours.
    name = str(numbered[1]["name"])
    return bool(numbered[1].get("is_ours")), _NOT_IN_A_NAME.search(name) is not None, name
