"""The tools that an agent may have, as data: the one table behind every decision."""

import re
from collections.abc import Mapping
from functools import partial

from msgspec import Struct

from parachute.base.errors import InvalidInput
from parachute.security.permissions.models import Access, Resource
from parachute.security.permissions.paths import joined


class Action(Struct, frozen=True, kw_only=True):
    """One tool: what it works on, and which other tool must be allowed.

    `field` of its input names the path or the command, `texts` are other fields that must hold a text.
    """

    name: str
    resource: Resource = Resource.NONE
    access: Access = Access.READ
    field: str = "file_path"
    texts: tuple[str, ...] = ()
    also_requires: str | None = None

    def text(self, fields: Mapping[str, object], name: str, default: str | None = None) -> str:
        """Return a text of the input; `InvalidInput` when it is missing or no text."""
        value = default if fields.get(name) is None else fields[name]
        if not isinstance(value, str) or not (value.strip() or name not in {self.field, "pattern"}):
            raise InvalidInput(f"The field {name!r} of {self.name} must be a text.", key="tool_field_not_text")
        return value

    def path(self, fields: Mapping[str, object]) -> tuple[str, str]:
        """Return the path that a file tool wants, and the names that it looks for below it."""
        for name in self.texts:
            self.text(fields, name)
        if self.name == "MultiEdit" and not isinstance(fields.get("edits"), list):
            raise InvalidInput("The field 'edits' of MultiEdit must be a list.", key="edits_not_a_list")
        if self.name not in {"Glob", "Grep"}:
            return self.text(fields, self.field), ""
        path = self.text({"path": fields.get("path") or "."}, "path")
        if self.name == "Grep":
            return path, self.text(fields, "glob", "")
        names = self.text(fields, "pattern")
        fixed = re.split(r"[*?\[{]", names)[0].rpartition("/")
        if ".." in names.removeprefix(fixed[0]).split("/"):
            raise InvalidInput(
                "The field 'pattern' of Glob must not go up with '..' behind a wildcard.", key="pattern_goes_up"
            )
        return joined(path, (fixed[0] or fixed[1]) or ".") if fixed[1] else path, names


_reads = partial(Action, resource=Resource.PATH)
_writes = partial(Action, resource=Resource.PATH, access=Access.WRITE)
_command = partial(Action, resource=Resource.COMMAND, access=Access.RUN, field="command")

ACTIONS: tuple[Action, ...] = (
    _reads(name="Read"),
    _reads(name="Glob", field="path", texts=("pattern",)),
    _reads(name="Grep", field="path", texts=("pattern",)),
    _reads(name="LS", field="path"),
    _reads(name="NotebookRead", field="notebook_path"),
    _writes(name="Write", texts=("content",)),
    _writes(name="Edit", texts=("old_string", "new_string"), also_requires="Read"),
    _writes(name="MultiEdit", also_requires="Read"),
    _writes(name="NotebookEdit", field="notebook_path", texts=("new_source",), also_requires="Read"),
    _command(name="Bash"),
    _command(name="Monitor", also_requires="Bash"),
    *(Action(name=name, also_requires="Bash") for name in ("BashOutput", "KillShell", "KillBash")),
    *(Action(name=name) for name in ("TaskOutput", "TaskStop", "WebSearch", "WebFetch", "Task", "Agent", "TodoWrite")),
    *(Action(name=name) for name in ("TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "AskUserQuestion", "Skill")),
    *(Action(name=name) for name in ("EnterPlanMode", "ExitPlanMode", "SlashCommand", "ToolSearch")),
    *(Action(name=name) for name in ("StructuredOutput", "ListMcpResourcesTool", "ReadMcpResourceTool")),
)
ACTION_BY_NAME: dict[str, Action] = {action.name: action for action in ACTIONS}

MCP_PREFIX = "mcp__"
MODULE_SERVER = "parachute"

# Two names of one tool in different versions of the command line program: allowing one allows the other.
_ALIASES = {"Task": "Agent", "Agent": "Task", "KillBash": "KillShell", "KillShell": "KillBash"}


def server_tool_name(server: str, name: str) -> str:
    """Return the name under which the agent's program and the policy know a tool of a server."""
    return f"{MCP_PREFIX}{server}__{name}"


def tool_listed(name: str, listed: tuple[str, ...]) -> bool:
    """Return whether an agent's list of tools names this tool of the program."""
    return name in listed or _ALIASES.get(name) in listed
