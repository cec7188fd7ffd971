"""Contents and rights of a plugin, for people and apps."""

from collections.abc import Iterable
from datetime import UTC, datetime

from msgspec.structs import asdict

from parachute.base.answers import Answer
from parachute.capabilities.agents.models import Agent
from parachute.capabilities.plugins.models import Contents, Plugin
from parachute.capabilities.skills.models import Skill
from parachute.modules.trees.changes import FileChange

_MOST_FILES = 200

IN_SANDBOX = "Hooks run in the sandbox of a conversation, and never in one that runs directly."


class Parts(Answer, frozen=True):
    """Parts of a plugin that the owner has approved as they are now."""

    texts: bool
    programs: bool


class PluginRow(Answer, frozen=True, rename="camel"):
    """A plugin as the app's list shows it, with our own additions."""

    slug: str
    name: str
    version: str
    description: str | None
    author: str | None
    source: str
    source_url: str | None
    path: str
    skills: tuple[str, ...]
    agents: tuple[str, ...]
    mcps: tuple[str, ...]
    installed_at: str
    commands: tuple[str, ...]
    hooks: tuple[str, ...]
    not_run: tuple[str, ...]
    tokens: int
    hash: str
    commit: str
    approved: Parts
    waiting: tuple[str, ...]
    problem: str | None


class SkillFileRow(Answer, frozen=True):
    """A file beside a skill."""

    name: str
    size: int


class PluginSkill(Answer, frozen=True):
    """A skill as the app reads it; `content` only where it alone is asked for."""

    name: str
    description: str
    content: str | None
    size: int
    modified: str | None
    version: str | None
    allowed_tools: tuple[str, ...]
    is_directory: bool
    files: tuple[SkillFileRow, ...]
    source: str
    problem: str | None


class PluginAgent(Answer, frozen=True):
    """An agent as the app reads it; `system_prompt` only where it alone is asked for."""

    name: str
    description: str
    type: str
    model: str | None
    path: str
    source: str
    tools: tuple[str, ...]
    system_prompt: str | None
    system_prompt_preview: str
    problem: str | None


class PluginCommand(Answer, frozen=True):
    """A command; `problem` says why it cannot be used."""

    name: str
    description: str
    problem: str | None


class PluginServer(Answer, frozen=True):
    """An MCP server that a plugin brings."""

    name: str
    command: str
    environment: tuple[str, ...]
    secrets: tuple[str, ...]
    problems: tuple[str, ...]


class PluginProgram(Answer, frozen=True):
    """A file that something could run."""

    path: str
    size: int
    sha256: str


class PluginContents(Answer, frozen=True, rename="camel"):
    """Everything in a plugin; `programs` holds the first of its `programs_count`."""

    skills: tuple[PluginSkill, ...]
    agents: tuple[PluginAgent, ...]
    commands: tuple[PluginCommand, ...]
    servers: tuple[PluginServer, ...]
    programs: tuple[PluginProgram, ...]
    programs_count: int
    rights: tuple[str, ...]


class PluginDetail(PluginRow, frozen=True, rename="camel"):
    """A plugin with everything in it, None where it cannot be read."""

    contents: PluginContents | None


class RightsChange(Answer, frozen=True):
    """The rights of a plugin that come with an update, and those that go."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


class PluginUpdate(Answer, frozen=True):
    """The newest commit of a plugin, as it was fetched."""

    hash: str
    commit: str
    version: str
    rights: RightsChange
    files: tuple[FileChange, ...]
    unchanged: bool


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


def row(plugin: Plugin) -> PluginRow:
    """A plugin in a list."""
    installed, found = plugin.installed, plugin.contents
    return PluginRow(
        slug=installed.slug,
        name=installed.name,
        version=found.version if found else "0.0.0",
        description=found.description if found else plugin.problem,
        author=found.author if found else None,
        source=installed.source,
        source_url=installed.url or None,
        path=installed.slug,
        skills=_names(found.skills if found else ()),
        agents=_names(found.agents if found else ()),
        mcps=tuple(server.label for server in found.servers) if found else (),
        installed_at=installed.installed_at,
        commands=tuple(f"/{found.name}:{each.name}" for each in found.commands if not each.problem) if found else (),
        hooks=tuple(hook.shown for hook in found.hooks) if found else (),
        not_run=found.not_run if found else (),
        tokens=found.tokens if found else 0,
        hash=installed.hash,
        commit=installed.commit,
        approved=Parts(plugin.has_texts, plugin.has_programs),
        waiting=plugin.waiting,
        problem=plugin.problem,
    )


def detail(plugin: Plugin) -> PluginDetail:
    """A plugin with everything in it."""
    found = plugin.contents
    return PluginDetail(**asdict(row(plugin)), contents=None if found is None else _contents(found))


def _contents(found: Contents) -> PluginContents:
    return PluginContents(
        skills=tuple(skill_of(each, with_text=False) for each in found.skills),
        agents=tuple(agent_of(each, with_text=False) for each in found.agents),
        commands=tuple(PluginCommand(each.name, each.description, each.problem) for each in found.commands),
        servers=tuple(
            PluginServer(
                each.label, each.shown, tuple(name for name, _ in each.env), tuple(each.secrets), tuple(each.problems)
            )
            for each in found.servers
        ),
        programs=tuple(PluginProgram(each.path, each.size, each.sha256) for each in found.programs[:_MOST_FILES]),
        programs_count=len(found.programs),
        rights=tuple(rights(found)),
    )


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


def skill_of(skill: Skill, *, with_text: bool = True) -> PluginSkill:
    """A skill as the app reads it."""
    return PluginSkill(
        name=skill.name,
        description=skill.description,
        content=skill.content if with_text else None,
        size=skill.size,
        modified=datetime.fromtimestamp(skill.modified, UTC).isoformat() if skill.modified else None,
        version=skill.version,
        allowed_tools=tuple(skill.allowed_tools),
        is_directory=skill.is_folder,
        files=tuple(SkillFileRow(file.name, file.size) for file in skill.files),
        source="plugin",
        problem=skill.problem,
    )


def agent_of(agent: Agent, *, with_text: bool = True) -> PluginAgent:
    """An agent as the app reads it."""
    return PluginAgent(
        name=agent.name,
        description=agent.description,
        type="chatbot",
        model=agent.model,
        path=agent.path,
        source="plugin",
        tools=tuple(agent.tools or ()),
        system_prompt=agent.prompt if with_text else None,
        system_prompt_preview=agent.prompt[:200],
        problem=agent.problem,
    )


def _names(parts: Iterable[Skill | Agent]) -> tuple[str, ...]:
    return tuple(each.name for each in parts)
