"""Contents and rights of a plugin, for people and apps."""

from datetime import UTC, datetime
from typing import Any

from parachute.capabilities.agents.models import Agent
from parachute.capabilities.mcp_servers.models import Server
from parachute.capabilities.plugins.models import Command, Contents, Plugin
from parachute.capabilities.skills.models import Skill

_MOST_FILES = 200

IN_SANDBOX = "Hooks run in the sandbox of a conversation, and never in one that runs directly."


def rights(contents: Contents) -> list[str]:
    """One line for each thing that could run or that its texts ask for."""
    found = [f"hook {hook.shown}" for hook in contents.hooks]
    for server in contents.servers:
        found.append(f"MCP server {server.label}: {server.shown}")
        found += [f"MCP server {server.label} gets the secret {name}" for name in server.secrets]
    found += [f"program {file.path}" for file in contents.programs if file.is_executable][:_MOST_FILES]
    found += [
        f"skill {each.name} is written for the tools {', '.join(each.allowed_tools)}"
        for each in contents.skills
        if each.allowed_tools
    ]
    found += [
        f"agent {each.name} is written for the tools {', '.join(each.tools)}" for each in contents.agents if each.tools
    ]
    return found


def row(plugin: Plugin) -> dict[str, Any]:
    """A plugin as the app's list shows it, with our own additions."""
    installed, found = plugin.installed, plugin.contents
    return {
        "slug": installed.slug,
        "name": installed.name,
        "version": found.version if found else "0.0.0",
        "description": found.description if found else plugin.problem,
        "author": found.author if found else None,
        "source": installed.source,
        "sourceUrl": installed.url or None,
        "path": installed.slug,
        "skills": _names(found.skills) if found else [],
        "agents": _names(found.agents) if found else [],
        "mcps": [server.label for server in found.servers] if found else [],
        "installedAt": installed.installed_at,
        "commands": [f"/{found.name}:{each.name}" for each in found.commands if each.problem is None] if found else [],
        "hooks": [hook.shown for hook in found.hooks] if found else [],
        "notRun": list(found.not_run) if found else [],
        "tokens": found.tokens if found else 0,
        "hash": installed.hash,
        "commit": installed.commit,
        "approved": {"texts": plugin.has_texts, "programs": plugin.has_programs},
        "waiting": list(plugin.waiting),
        "problem": plugin.problem,
    }


def detail(plugin: Plugin) -> dict[str, Any]:
    """A plugin with everything in it."""
    found = plugin.contents
    if found is None:
        return {**row(plugin), "contents": None}
    return {
        **row(plugin),
        "contents": {
            "skills": [skill_json(each, with_text=False) for each in found.skills],
            "agents": [agent_json(each, with_text=False) for each in found.agents],
            "commands": [_command(each) for each in found.commands],
            "servers": [_server(each) for each in found.servers],
            "programs": [
                {"path": each.path, "size": each.size, "sha256": each.sha256} for each in found.programs[:_MOST_FILES]
            ],
            "programsCount": len(found.programs),
            "rights": rights(found),
        },
    }


def consent(contents: Contents, part: str) -> list[str]:
    """The lines that the owner reads before a yes to the `texts` or the `programs` of a plugin."""
    if part == "texts":
        lines = [f"  skill    {each.name}: {each.description}" for each in contents.skills if each.problem is None]
        lines += [f"  agent    {each.name}: {each.description}" for each in contents.agents if each.problem is None]
        lines += [
            f"  command  /{contents.name}:{each.name} {each.description}"
            for each in contents.commands
            if each.problem is None
        ]
        lines.append(f"  Their descriptions cost about {contents.tokens:,} tokens in each conversation.")
        return lines
    lines = [f"  {line}" for line in rights(contents) if line.startswith(("hook", "MCP server", "program"))]
    size = sum(each.size for each in contents.programs)
    lines.append(f"  files    {len(contents.programs):,} of {size:,} bytes, {contents.programs_hash}")
    return [*lines, f"  {IN_SANDBOX}", "  MCP servers run in a sandbox of their own, without a network at first."]


def skill_json(skill: Skill, *, with_text: bool = True) -> dict[str, Any]:
    """A skill as the app reads it."""
    return {
        "name": skill.name,
        "description": skill.description,
        "content": skill.content if with_text else None,
        "size": skill.size,
        "modified": datetime.fromtimestamp(skill.modified, UTC).isoformat() if skill.modified else None,
        "version": skill.version,
        "allowed_tools": list(skill.allowed_tools),
        "is_directory": skill.is_folder,
        "files": [{"name": file.name, "size": file.size} for file in skill.files],
        "source": "plugin",
        "problem": skill.problem,
    }


def agent_json(agent: Agent, *, with_text: bool = True) -> dict[str, Any]:
    """An agent as the app reads it."""
    return {
        "name": agent.name,
        "description": agent.description,
        "type": "chatbot",
        "model": agent.model,
        "path": agent.path,
        "source": "plugin",
        "tools": list(agent.tools or ()),
        "system_prompt": agent.prompt if with_text else None,
        "system_prompt_preview": agent.prompt[:200],
        "problem": agent.problem,
    }


def _names(parts: tuple[Skill, ...] | tuple[Agent, ...]) -> list[str]:
    return [each.name for each in parts]


def _command(command: Command) -> dict[str, Any]:
    return {"name": command.name, "description": command.description, "problem": command.problem}


def _server(server: Server) -> dict[str, Any]:
    return {
        "name": server.label,
        "command": server.shown,
        "environment": [name for name, _ in server.env],
        "secrets": list(server.secrets),
        "problems": list(server.problems),
    }
