"""Reading the text of an agent; whoever wrote it may be hostile."""

import re
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.folders import Folder
from parachute.capabilities.agents.models import Agent
from parachute.capabilities.texts import Source, names_of, read_fields, read_text, text_of

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_MODEL = re.compile(r"[A-Za-z0-9._:/@\[\]-]{1,100}")
_DESCRIPTION_LIMIT = 4096
"""Characters: those of agents often hold examples of when to use them."""


def read_agent(folder: Folder, path: Path, source: Source) -> Agent:
    """The agent at a path below an open folder; never raises for what is there: its `problem` says why it cannot be used."""
    agent = Agent(path.stem, "", "", None, None, None, source, str(path))
    try:
        text = read_text(folder, path)
        status = folder.status(path)
        agent = replace(agent, content=text, modified=status.st_mtime if status else 0.0)
        agent = parsed(agent)
        if not _NAME.fullmatch(agent.name):
            raise InvalidInput("name: expected at most 64 of A-Z, a-z, 0-9, - and _.", key="invalid_name")
        if not agent.prompt:
            raise InvalidInput("The text below its fields is missing.", key="empty")
    except (OSError, ParachuteError) as error:
        reason = str(error) if isinstance(error, ParachuteError) else f"The file cannot be read: {error.strerror}."
        return replace(agent, problem=reason)
    return agent


def parsed(agent: Agent) -> Agent:
    """The agent with what the fields of its content say; error: InvalidInput for one that cannot be obeyed."""
    fields, body, note = read_fields(agent.content)
    model = text_of(fields, "model")
    if model and not _MODEL.fullmatch(model):
        raise InvalidInput(f"model: {model[:60]!r} cannot be the name of a model.", key="invalid_model")
    description = text_of(fields, "description")
    if len(description) > _DESCRIPTION_LIMIT:
        raise InvalidInput(
            f"description: it has more than {_DESCRIPTION_LIMIT:,} characters.", key="description_too_long"
        )
    return replace(
        agent,
        name=text_of(fields, "name") or agent.name,
        description=description,
        prompt=body,
        note=note,
        tools=_tools(fields),
        model=None if model in ("", "inherit") else model,
        commands=_commands(fields.get("permissions")),
        skills=names_of(fields, "skills"),
        # A server that is written out here would be a command that nobody has approved: only names of known ones count.
        mcp_servers=names_of(fields, "mcpServers" if "mcpServers" in fields else "mcp_servers"),
    )


def _tools(fields: dict[str, Any]) -> tuple[str, ...] | None:
    # The other agents that read these files take it for all tools.
    return None if fields.get("tools") == "*" else names_of(fields, "tools")


def _commands(permissions: Any) -> tuple[str, ...] | None:
    """The commands to which `permissions: {bash: ["git", "npm"]}` restricts, none with `false`."""
    if permissions is None:
        return None
    if not isinstance(permissions, dict):
        raise InvalidInput("permissions: expected names with values, such as bash: [git].", key="invalid_field")
    commands = permissions.get("bash", True)
    if isinstance(commands, bool):
        return None if commands else ()
    return names_of({"permissions.bash": commands}, "permissions.bash")
