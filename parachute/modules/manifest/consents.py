"""The consent screen of a module as data, JSON and lines, and the difference that an update makes."""

import re
from collections.abc import Iterable, Mapping

from msgspec import field
from msgspec.structs import replace

from parachute.base.answers import Answer
from parachute.core.agents import WORKING_DIRECTORY, AgentConfig
from parachute.core.patterns import Pattern
from parachute.modules.manifest.effects import without_effect
from parachute.modules.manifest.interface_rights import in_words, level_of
from parachute.modules.manifest.models import Manifest
from parachute.modules.manifest.untrusted import shut_in, taken

_AGENTS, _SCHEDULED = "Agents this module can run", "Scheduled agents"
_DETAIL = "  - "
_TIME = re.compile(r"[0-9]{2}:[0-9]{2}")
_LONGEST = 200
"""Characters of an author's words that the screen shows."""

# Invisible letters, and the quotes that the screen itself uses.
_BLANKS = dict.fromkeys((0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0), " ") | dict.fromkeys((0x201C, 0x201D), '"')
_PROGRAMS = "Start programs of this computer, which reach what the module reaches ({})"
_CREATES = "Bring conversations and files that you upload for it into this computer, each conversation in a sandbox; nothing is replaced"
_KINDS = {
    "default": "conversations without a folder",
    "workspace": "conversations in a folder",
    "trusted": "conversations that run on the computer itself",
}


class ToolConsent(Answer, frozen=True, forbid_unknown_fields=True):
    """A tool that a module offers, in its author's words."""

    name: str
    description: str


class AgentConsent(Answer, frozen=True, forbid_unknown_fields=True):
    """The rights of one agent, in words; `skills`: it gets those of the user, `interfaces` narrows the tools that it gets."""

    name: str
    description: str
    network: str
    files: str
    commands: str
    tools: tuple[str, ...]
    interfaces: tuple[str, ...]
    can_suggest: tuple[str, ...]
    sandboxed: bool
    limits: str
    skills: bool = False


class ScheduledConsent(Answer, frozen=True, forbid_unknown_fields=True):
    """A scheduled agent, in words; `time` is local time of each day, `HH:MM`, or any other schedule.

    `by_itself` is whether the schedule is switched on; if not, it runs when the user says so.
    """

    name: str
    display_name: str
    description: str
    time: str
    by_itself: bool
    output: str
    tools: tuple[str, ...]
    model: str = ""
    can_suggest: tuple[str, ...] = ()


class Consent(Answer, frozen=True, forbid_unknown_fields=True):
    """The rights that a module gets by its approval.

    `modules.yaml` holds what was approved: one with fields of another version of this program is refused, and asked about again.
    """

    name: str
    version: str
    description: str
    folders: tuple[str, ...]
    write: tuple[str, ...]
    read: tuple[str, ...]
    network: tuple[str, ...]
    commands: tuple[str, ...]
    agents: tuple[AgentConsent, ...]
    mcp_tools: tuple[ToolConsent, ...]
    mcp_used: tuple[str, ...]
    hooks: tuple[str, ...]
    provides: tuple[str, ...]
    interfaces: tuple[str, ...]
    dependencies: tuple[str, ...]
    always_on: bool
    limits: str
    conversations: str = "none"
    scheduled: tuple[ScheduledConsent, ...] = ()
    prompts: tuple[str, ...] = ()
    author: str = ""
    title: str = ""
    icon: str = ""
    reasons: dict[str, str] = field(default_factory=dict)
    without_effect: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    """Lines about the rights that its interfaces and `conversations` give."""

    def as_text(self) -> list[str]:
        """Lines for a terminal."""
        lines = [f"{self.name} {self.version}"]
        if self.author:
            # Nobody has checked who that is.
            lines.append(f"By {_quoted(self.author)}, as it says")
        if self.description:
            lines.append(_quoted(self.description))
        for title, entries in self.sections(self.reasons):
            if entries:
                lines += ["", f"{title}:", *(f"  {entry}" for entry in entries)]
        if self.without_effect:
            lines += ["", "Asks for what has no effect here:", *(f"  {entry}" for entry in self.without_effect)]
        return [_one_line(line) for line in lines]

    def sections(self, reasons: Mapping[str, str] | None = None) -> list[tuple[str, list[str]]]:
        """Every section with its lines, in the order of the screen; `reasons` are shown behind what they are for."""

        def why(name: str) -> str:
            said = (reasons or {}).get(name)
            return f" ({_quoted(said)})" if said else ""

        access = [f"Create folder: {folder}" for folder in self.folders]
        access += [f"Read and write: {pattern}{why(pattern)}" for pattern in self.write]
        access += [f"Read: {pattern}{why(pattern)}" for pattern in self.read]
        access += [_PROGRAMS.format(", ".join(self.commands))] if self.commands else []
        access += [f"Use the tool: {tool}" for tool in self.mcp_used]
        access += self.gives
        service = [
            f"Runs all the time ({self.limits})" if self.always_on else f"Runs when it is needed ({self.limits})"
        ]
        return [
            ("This module requests access to", access or ["nothing in the vault"]),
            ("Sets the prompt of", [_KINDS[kind] for kind in self.prompts if kind in _KINDS]),
            ("Network", [f"Reach {host}{why(host)}" for host in self.network] or ["none"]),
            (_AGENTS, [line for agent in self.agents for line in _agent_lines(agent)]),
            (_SCHEDULED, [line for agent in self.scheduled for line in _scheduled_lines(agent)]),
            ("MCP tools provided", [f"{tool.name}: {_quoted(tool.description)}" for tool in self.mcp_tools]),
            ("Reacts to", list(self.hooks)),
            ("Interfaces provided", list(self.provides)),
            ("Packages it brings", list(self.dependencies)),
            ("Process", service),
        ]


class ConsentDifference(Answer, frozen=True):
    """Lines `section: line` that an update adds to a consent and removes from it."""

    added: tuple[str, ...]
    removed: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)

    def as_text(self) -> list[str]:
        """Lines for a terminal: `+` what comes, `-` what goes."""
        return [f"+ {line}" for line in self.added] + [f"- {line}" for line in self.removed]


def consent(manifest: Manifest, scheduled: tuple[ScheduledConsent, ...], *, untrusted: bool = False) -> Consent:
    """The consent that a manifest and its scheduled agents, which are files of their own, ask for.

    For an `untrusted` module it holds what such a one gets, and the rest is without effect.
    """
    no_effect: tuple[str, ...] = ()
    if untrusted:
        free = tuple(name for name, agent in manifest.agents.items() if agent.sandbox is None)
        no_effect = (
            *taken(manifest),
            *(f"agents/{each.name}.md: an untrusted module has no scheduled agents" for each in scheduled),
            *(f"agents.{name}: an untrusted module has none without a sandbox" for name in free),
        )
        manifest, scheduled = shut_in(manifest), ()
        manifest = replace(manifest, agents={name: each for name, each in manifest.agents.items() if name not in free})
    permissions = manifest.permissions
    bash = permissions.bash
    return Consent(
        name=manifest.name,
        version=manifest.version,
        description=manifest.description,
        folders=tuple(sorted({_folder(pattern) for pattern in permissions.write} - {""})),
        write=permissions.write,
        read=tuple(pattern for pattern in permissions.read if pattern not in permissions.write),
        network=permissions.network,
        commands=() if bash is False else ("any",) if bash is True else bash,
        prompts=tuple(manifest.prompts),
        agents=tuple(agent_consent(name, agent) for name, agent in manifest.agents.items()),
        mcp_tools=tuple(ToolConsent(tool.name, tool.description) for tool in manifest.mcp_tools),
        mcp_used=permissions.mcp,
        hooks=tuple(dict.fromkeys(hook.event for hook in manifest.hooks)),
        provides=tuple(map(str, manifest.provides)),
        interfaces=tuple(map(str, manifest.optional_requires)),
        dependencies=manifest.dependencies,
        always_on=manifest.service.start == "always",
        limits=f"{manifest.service.memory} of memory, {manifest.service.pids} processes",
        conversations=permissions.conversations,
        scheduled=scheduled,
        author=manifest.author,
        title=manifest.ui.title if manifest.ui else "",
        icon=manifest.ui.icon if manifest.ui else "",
        reasons=dict(permissions.reasons),
        without_effect=(*no_effect, *without_effect(manifest)),
        gives=_gives(manifest),
    )


def _gives(manifest: Manifest) -> tuple[str, ...]:
    # What `core.conversations` does is the same with the interface and without it.
    names = dict.fromkeys(
        wanted.name for wanted in manifest.optional_requires if wanted.name != "ConversationInterface"
    )
    said = [in_words(name, level_of(manifest, name)) for name in names]
    said.append(in_words("ConversationInterface", manifest.permissions.conversations))
    if manifest.permissions.sessions == "create":
        said.append(_CREATES)
    return tuple(line for line in said if line)


def difference(old: Consent, new: Consent) -> ConsentDifference:
    """The rights that differ; name, version and description are none."""
    before, after = _flat(old), _flat(new)
    return ConsentDifference(
        tuple(line for line in after if line not in before), tuple(line for line in before if line not in after)
    )


def summary(asked: Consent) -> list[str]:
    """Summarize a consent: purpose, files, network, agents and schedules."""
    files = [f"writes {', '.join(asked.write)}"] if asked.write else []
    files += [f"reads {', '.join(asked.read)}"] if asked.read else []
    if asked.conversations != "none":
        files.append("reads your conversations" + (" and answers in them" if asked.conversations == "write" else ""))
    if _CREATES in asked.gives:
        files.append("brings conversations and files that you upload")
    if asked.commands:
        files.append(f"starts programs ({', '.join(asked.commands)})")
    network = f"reaches {', '.join(asked.network)}" if asked.network else "no network"
    lines = [f"{asked.name}: {asked.description}", f"  {'; '.join([*files, network])}"]
    lines += [f"  agent {agent.name}: {agent.description} ({_agent_summary(agent)})" for agent in asked.agents]
    lines += [
        f"  {_when(agent)}: {agent.display_name}, writes {agent.output}" for agent in asked.scheduled if agent.by_itself
    ]
    return [line.replace("\n", " ") for line in lines]


def _agent_summary(agent: AgentConsent) -> str:
    if not agent.sandboxed:
        return "WITHOUT a sandbox"
    return ", ".join(
        f"{what}: {value}" if value != "none" else f"no {what}"
        for what, value in (("network", agent.network), ("files", agent.files), ("commands", agent.commands))
    )


def _flat(value: Consent) -> list[str]:
    lines: list[str] = []
    for title, entries in value.sections():
        if title == _AGENTS:
            by_name = [(f"Agent {agent.name}", _agent_lines(agent)) for agent in value.agents]
        elif title == _SCHEDULED:
            by_name = [(f"Agent file {agent.name}", _scheduled_lines(agent)) for agent in value.scheduled]
        else:
            by_name = [(title, entries)]
        lines += [f"{what}: {entry.removeprefix(_DETAIL)}" for what, entries in by_name for entry in entries]
    return [_one_line(line) for line in lines]


def _quoted(text: str) -> str:
    """Words of the module's author, set apart from the computer's own lines: in quotes, short, without gaps."""
    return f"“{_words(text)}”"


def _words(text: str) -> str:
    words = " ".join(text.translate(_BLANKS).split())
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


def _one_line(text: str) -> str:
    # A description with lines of its own could imitate sections of this screen.
    return text.replace("\n", " ")


def agent_consent(name: str, agent: AgentConfig) -> AgentConsent:
    """The rights of one agent, in words."""
    sandbox = agent.sandbox
    if sandbox is None:
        network, files, limits = "everything", "everything that you can open", "none"
    else:
        network = {"none": "none", "bridge": "the hosts that you allow in the settings (sandbox.hosts)"}.get(
            sandbox.network if isinstance(sandbox.network, str) else "", ", ".join(sandbox.network)
        )
        files = _files(sandbox.workspace_access, sandbox.allowed_paths)
        limits = f"{sandbox.pids_limit} processes; in a container also {sandbox.memory} of memory and {sandbox.cpus:g} processor{'' if sandbox.cpus == 1 else 's'}"
    commands = {True: "any", False: "none"}.get(agent.bash) if isinstance(agent.bash, bool) else ", ".join(agent.bash)
    return AgentConsent(
        name=name,
        description=agent.description,
        network=network,
        files=files,
        commands=commands or "none",
        tools=agent.capabilities,
        interfaces=agent.allowed_interfaces,
        can_suggest=agent.can_suggest,
        sandboxed=sandbox is not None,
        limits=limits,
        skills=agent.allow_user_skills,
    )


def _files(access: str, paths: Iterable[str]) -> str:
    shown = [_path(path) for path in paths if not path.startswith(WORKING_DIRECTORY)]
    if access == "none" or not shown:
        return "none"
    return f"{', '.join(shown)} ({'read and write' if access == 'rw' else 'read only'})"


def _path(path: str) -> str:
    if path.startswith("~/"):
        return f"{path} (outside of the vault)"
    return f"{path} (read only)" if path.startswith(".") else path


def _agent_lines(agent: AgentConsent) -> list[str]:
    lines = [f"{agent.name}: {_quoted(agent.description)}" if agent.description else f"{agent.name}:"]
    if not agent.sandboxed:
        lines.append(f"{_DETAIL}Runs WITHOUT a sandbox, with all of your rights, after you approve it each time")
    lines += [f"{_DETAIL}Network access: {agent.network}", f"{_DETAIL}File access: {agent.files}"]
    lines.append(f"{_DETAIL}Commands: {agent.commands}")
    if agent.tools:
        lines.append(f"{_DETAIL}Tools: {', '.join(agent.tools)}")
    if agent.interfaces:
        lines.append(f"{_DETAIL}Tools of modules: only those with {', '.join(agent.interfaces)}")
    if agent.skills:
        lines.append(f"{_DETAIL}Skills: all of yours, with their files and programs")
    if agent.can_suggest:
        lines.append(f"{_DETAIL}Can suggest: changes in {', '.join(agent.can_suggest)}")
    lines.append(f"{_DETAIL}Limits: {agent.limits}")
    return lines


def _when(agent: ScheduledConsent) -> str:
    return f"each day at {agent.time}" if _TIME.fullmatch(agent.time) else agent.time


def _scheduled_lines(agent: ScheduledConsent) -> list[str]:
    when = f"Runs by itself {_when(agent)}" if agent.by_itself else "Runs when you say so"
    shown = (
        f"{_words(agent.display_name)} — {_quoted(agent.description)}"
        if agent.description
        else _words(agent.display_name)
    )
    lines = [
        f"{when}: {shown}",
        f"{_DETAIL}Writes: {agent.output}",
        f"{_DETAIL}Tools: {', '.join(agent.tools) or 'none'}",
    ]
    if agent.can_suggest:
        lines.append(f"{_DETAIL}Can suggest: changes in {', '.join(agent.can_suggest)}")
    return [*lines, f"{_DETAIL}Model: {agent.model}"] if agent.model else lines


def _folder(pattern: str) -> str:
    literal = Pattern.parse(pattern).literal
    return "/".join(literal) + "/" if literal else ""
