"""The agents in the vault, in projects and in the user's home."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import time_ns
from typing import Any

from msgspec.structs import replace

from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError, Unavailable
from parachute.base.folders import Folder
from parachute.base.signatures import Signature, signature_of
from parachute.capabilities.agents.models import Agent
from parachute.capabilities.agents.reading import parsed, read_agent
from parachute.capabilities.places import Place, places
from parachute.capabilities.texts import (
    LIMIT,
    check_new_description,
    check_new_name,
    check_unchanged,
    not_readable,
    read_fields,
    read_text,
)
from parachute.chat.agent_processes.helpers import BUILT_IN
from parachute.chat.prompts.answering_agents import AnsweringAgent, AnsweringAgents
from parachute.config.vault.service import Vault
from parachute.core import front_matter
from parachute.security.approved_prompts import ApprovedPrompts, shown_name
from parachute.security.permissions.actions import ACTION_BY_NAME

KIND = "agents"
_OTHERS = (".agents", "agents")
"""Further folders of the vault."""

_FIELDS = frozenset({"name", "description", "tools", "model"})
"""Fields that whoever changes an agent has seen."""

MOST = 1_000
"""Agents of one folder."""


class AgentStore(AnsweringAgents):
    """Reads, writes and approves agents; every method waits for the disk.

    `home` is the user's folder, if agents in there count; `is_project` gives a project's folder without links, with InvalidInput
    for what is none, and without it messages name no agents of projects outside of the vault.
    """

    def __init__(
        self,
        vault: Vault,
        approvals: ApprovedPrompts,
        home: Path | None,
        is_project: Callable[[Path], Path] | None = None,
    ) -> None:
        self._vault = vault
        self._approvals = approvals
        self._home = home
        self._is_project = is_project
        self._read: dict[Path, tuple[Signature, int, Agent]] = {}

    def found(self, directory: Path | None = None) -> tuple[Agent, ...]:
        """All agents by name; `path` of each is the one by which messages name it. Of two with one name the first place's is taken."""
        found: dict[str, Agent] = {}
        for place in places(self._vault.root, KIND, _OTHERS, directory, self._home):
            for agent in self._of(place):
                found.setdefault(agent.name, agent)
        return tuple(found[name] for name in sorted(found))

    def get(self, name: str, directory: Path | None = None) -> Agent:
        """One agent; error: NotFound."""
        for agent in self.found(directory):
            if agent.name == name:
                return agent
        raise NotFound(
            f"There is no agent {name[:80]!r}.", "`parachute agents list` shows which there are.", key="no_such_agent"
        )

    def create(
        self,
        name: str,
        prompt: str,
        description: str = "",
        tools: tuple[str, ...] | None = None,
        model: str | None = None,
    ) -> Agent:
        """Write an agent, and approve it: who asks for it is the owner. Errors: InvalidInput, Conflict."""
        check_new_name(name)
        if name in BUILT_IN:
            raise Conflict(f"The computer itself has an agent {name}.", key="exists")
        if description:
            check_new_description(description)
        _check_tools(tools or ())
        fields = {"name": name, "description": description or None, "tools": tools, "model": model}
        kept = {
            field: list(value) if isinstance(value, tuple) else value
            for field, value in fields.items()
            if value is not None
        }
        text = f"---\n{front_matter.write(kept)}---\n\n{prompt.strip()}\n"
        if len(text.encode(errors="replace")) > LIMIT:
            raise InvalidInput(f"prompt: it has more than {LIMIT:,} bytes.", key="prompt_too_long")
        path = f".claude/{KIND}/{name}.md"
        # As it will be read: what cannot be obeyed is not written.
        agent = parsed(Agent(name, "", "", None, None, None, "vault", path, content=text))
        if not agent.prompt:
            raise InvalidInput("prompt: say what the agent is and does.", key="empty")
        if any(each.name == name for each in self.found()):
            raise Conflict(f"The agent {name} already exists.", key="exists")
        try:
            with Folder.open(self._vault.root) as vault, vault.folder(f".claude/{KIND}", make=True) as folder:
                if folder.status(f"{name}.md") is not None:
                    raise Conflict(f"There is a file {path} already.", key="exists")
                folder.write(f"{name}.md", text)
        except OSError as error:
            raise Unavailable(f"{path} cannot be written: {error.strerror}.", key="not_writable") from error
        self._approvals.approve(path, text)
        return self.get(name)

    def change(
        self,
        name: str,
        prompt: str,
        description: str = "",
        tools: tuple[str, ...] | None = None,
        model: str | None = None,
        expected: str | None = None,
    ) -> Agent:
        """Change an agent of the vault whose ETag is `expected`, if that is given; other fields of its file stay as they are.

        It is approved if it was, or if its file says nothing else: whoever asks for it is the owner, but has not seen more.
        Errors: NotFound, NotAllowed, InvalidInput, Conflict.
        """
        agent = self._own(name)
        check_unchanged(f"The agent {name}", agent.content, expected)
        if agent.problem:
            raise not_readable(f"The agent {name}", agent.problem)
        text = _changed(agent, prompt, description, tools, model)
        # As it will be read: what cannot be obeyed is not written.
        if not parsed(replace(agent, content=text)).prompt:
            raise InvalidInput("prompt: say what the agent is and does.", key="empty")
        is_good = self.is_approved(agent) or set(read_fields(text)[0]) <= _FIELDS
        try:
            with Folder.open(self._vault.root) as vault, vault.replacement(agent.path) as file:
                file.write(text.encode())
                file.commit()
        except OSError as error:
            raise Unavailable(f"{agent.path} cannot be written: {error.strerror}.", key="not_writable") from error
        if is_good:
            self._approvals.approve(self.approval_name(agent), text)
        return self.get(name)

    def delete(self, name: str, directory: Path | None = None) -> None:
        """Remove an agent of the vault, and its approval; errors: NotFound, NotAllowed for one of another source."""
        agent = self._own(name, directory)
        with Folder.open(self._vault.root) as vault:
            vault.remove(agent.path)
        self._approvals.withdraw(self.approval_name(agent))

    def approval_name(self, agent: Agent) -> str:
        """The name under which the words of an agent are approved."""
        return shown_name(self._vault.root, self._vault.absolute(agent.path))

    def is_approved(self, agent: Agent) -> bool:
        """True if these words may steer conversations that run directly."""
        return self._approvals.is_approved(self.approval_name(agent), agent.content)

    def approved(self, agents: Iterable[Agent]) -> frozenset[str]:
        """The names of those agents whose words may steer conversations that run directly."""
        named = {self.approval_name(agent): agent for agent in agents}
        found = self._approvals.approved((name, agent.content) for name, agent in named.items())
        return frozenset(named[name].name for name in found)

    def before(self, agent: Agent) -> bytes | None:
        """The words that were approved of it last."""
        return self._approvals.before(self.approval_name(agent))

    def is_known(self, agent: Agent) -> bool:
        """True if words of it were approved once."""
        return self.before(agent) is not None

    def approve(self, agent: Agent) -> None:
        """Approve an agent's instructions for unsandboxed conversations; error: InvalidInput."""
        self._approvals.approve(self.approval_name(agent), agent.content)

    def find(self, agent_path: str) -> AnsweringAgent:
        """The agent that a message names, by its name or by the path of its file."""
        if "/" not in agent_path and not agent_path.endswith(".md"):
            agent = next((each for each in self.found() if each.name == agent_path and not each.problem), None)
            if agent is None:
                raise _none(agent_path)
            return self._answering(agent, self.approval_name(agent))
        try:
            root, inside = self._place_of(agent_path)
            shown = str(inside) if root == self._vault.root.resolve() else str(root / inside)
            opened = Folder.open(root) if root == self._vault.root.resolve() else Folder.open_unlinked(root)
            with opened as folder:
                text = read_text(folder, inside)
        except (OSError, ValueError, ParachuteError) as error:
            raise _none(agent_path) from error
        try:
            return self._answering(
                parsed(Agent(inside.stem, "", "", None, None, None, "vault", shown, content=text)), shown
            )
        except InvalidInput as error:
            raise InvalidInput(f"agentPath: {shown}: {error.message}", key=error.key) from error

    def _own(self, name: str, directory: Path | None = None) -> Agent:
        """An agent of the vault; errors: NotFound, NotAllowed for one of another source."""
        if name in BUILT_IN:
            raise NotAllowed(f"The agent {name} is the computer's own, and stays.", key="not_in_vault")
        agent = self.get(name, directory)
        if agent.source != "vault":
            raise NotAllowed(
                f"The agent {name} is not the vault's own, and stays.",
                f"Change or remove its file where it comes from: {agent.path}",
                key="not_in_vault",
            )
        return agent

    def _place_of(self, agent_path: str) -> tuple[Path, Path]:
        """The folder that a path lies in, without links, and the path below it; error: ValueError, ParachuteError."""
        path, vault = self._vault.absolute(agent_path).resolve(), self._vault.root.resolve()
        if path.suffix != ".md":
            raise ValueError
        if path.is_relative_to(vault):
            inside = path.relative_to(vault)
            *above, folder, kind, _ = ("", "", *inside.parts)
            hidden = [*above, folder, kind] if (folder, kind) != (".claude", KIND) else above
            if any(part.startswith(".") and part != ".agents" for part in hidden):
                raise ValueError
            return vault, inside
        if path.parent.parts[-2:] != (".claude", KIND):
            raise ValueError
        root = path.parents[2]
        is_users = self._home is not None and root == self._home.resolve()
        if not is_users and (self._is_project is None or self._is_project(root) != root):
            raise ValueError
        return root, path.relative_to(root)

    def _answering(self, agent: Agent, shown: str) -> AnsweringAgent:
        return AnsweringAgent(
            agent.name,
            shown,
            agent.content,
            agent.prompt,
            agent.tools,
            agent.commands,
            agent.skills,
            agent.mcp_servers,
            agent.model,
        )

    def _of(self, place: Place) -> Iterator[Agent]:
        try:
            with place.open() as folder:
                files = [(each.name, signature_of(each.stat(follow_symlinks=False))) for each in folder.entries()]
                names = sorted((name, signature) for name, signature in files if _is_agent(name))
                for name, signature in names[:MOST]:
                    yield self._current(place, folder, name, signature)
                for name, _ in names[MOST : MOST + 1]:
                    problem = f"A folder gives {MOST:,} agents: this one, and those after it, are left out."
                    path = self._vault.relative(place.path(name))
                    yield Agent(name, "", "", None, None, None, place.source, path, problem=problem)
        except OSError:
            return  # there is no such folder, or a link in its place

    def _current(self, place: Place, folder: Folder, name: str, signature: Signature) -> Agent:
        path = place.path(name)
        known = self._read.get(path)
        if known is not None and known[0] == signature and signature.differs_later(known[1]):
            return known[2]
        taken = time_ns()
        agent = replace(read_agent(folder, Path(name), place.source), path=self._vault.relative(path))
        if len(self._read) >= 4 * MOST:
            self._read.clear()
        self._read[path] = signature, taken, agent
        return agent


def _is_agent(name: str) -> bool:
    return name.endswith(".md") and not name.startswith(".") and name.isprintable() and name != "README.md"


def _changed(agent: Agent, prompt: str, description: str, tools: tuple[str, ...] | None, model: str | None) -> str:
    """The text of an agent with these fields, every other one as it was written; errors: InvalidInput, Conflict."""
    changes: dict[tuple[str, ...], Any] = {}
    # What stays was read before, and is good as it is, also where today's rules would refuse it.
    if description != agent.description:
        if description:
            check_new_description(description)
        changes["description",] = description or None
    if tools != agent.tools:
        _check_tools(tools or ())
        changes["tools",] = list(tools) if tools else None
    if model != agent.model:
        changes["model",] = model
    parts = front_matter.split(agent.content)
    if changes:
        parts = parts._replace(front=front_matter.edit(parts.front or "", changes, parts.newline))
    if prompt.strip() != agent.prompt:
        parts = parts._replace(
            body=f"{parts.newline if parts.front is not None else ''}{prompt.strip()}{parts.newline}"
        )
    if len(parts.text.encode(errors="replace")) > LIMIT:
        raise InvalidInput(f"prompt: it has more than {LIMIT:,} bytes.", key="prompt_too_long")
    return parts.text


def _none(agent_path: str) -> NotFound:
    return NotFound(f"agentPath: there is no agent {agent_path[:200]!r} in the vault.", key="no_such_agent")


def _check_tools(tools: tuple[str, ...]) -> None:
    """Error: InvalidInput for a word that names no tool; those of modules and servers come and go."""
    for name in tools:
        if name not in ACTION_BY_NAME and not {*"-_"} & {*name}:
            raise InvalidInput(
                f"tools: there is no tool {name[:80]!r}.",
                "Name tools such as Read and Bash, those of a module such as brain_*, or of a server such as mcp__notes.",
                key="unknown_tool",
            )
