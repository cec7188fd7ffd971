"""The agents of a module: those that it brings, and the user's own in the vault, which replace them by name."""

import asyncio
import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from parachute.automation.scheduled_agents.models import AgentFile
from parachute.automation.suggestions.allowed_targets import targets_of_module
from parachute.base.approved_hashes import ApprovedHashes
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.folders import Folder
from parachute.core.patterns import Pattern
from parachute.modules.agent_definitions.brought import MOST, brought_agents, is_name, own_folder, suggestion_problem
from parachute.modules.agent_definitions.definition import FILE_LIMIT, read_definition
from parachute.modules.registry.models import Trust
from parachute.modules.runtime.models import ApprovedModule

_OWN = ".agents"


class AgentFiles:
    """Finds agents; what lies in the vault is approved by its hash in the state directory."""

    def __init__(self, vault: Path, approved: ApprovedHashes) -> None:
        self._vault = vault
        self._approved = approved

    async def of(self, module: ApprovedModule) -> tuple[AgentFile, ...]:
        """All agents of a module, by name; a module that is not trusted has none.

        Error: InvalidInput if what is approved cannot be read.
        """
        return await asyncio.to_thread(self._of, module)

    async def unapproved(self, modules: Iterable[ApprovedModule]) -> Sequence[AgentFile]:
        """The user's own agents that could run if they were approved; error: InvalidInput as for `of`."""
        return await asyncio.to_thread(self._unapproved, modules)

    def _of(self, module: ApprovedModule) -> tuple[AgentFile, ...]:
        own = self._own(module)
        found = own if module.trust is Trust.UNTRUSTED else _brought(module) | own
        return tuple(found[name] for name in sorted(found))

    def _unapproved(self, modules: Iterable[ApprovedModule]) -> Sequence[AgentFile]:
        own = (agent for module in modules for agent in self._own(module).values())
        return [agent for agent in own if agent.definition is not None and not agent.is_approved]

    def _own(self, module: ApprovedModule) -> dict[str, AgentFile]:
        folder = own_folder(module.name)
        # Most modules have none, and to open folders without links costs ten times as much as this.
        if module.trust is Trust.UNTRUSTED or not os.access(self._vault / folder / _OWN, os.F_OK):
            return {}
        found: dict[str, AgentFile] = {}
        names = _names(self._vault, f"{folder}/{_OWN}") if _is_written(module, folder) else []
        approved = self._approved.digests() if names else frozenset()
        for name in names:
            path = f"{folder}/{_OWN}/{name}.md"
            try:
                content = _content(self._vault, path)
            except ParachuteError as error:
                found[name] = AgentFile(module, name, "vault", path, "", "", None, error.message, False)
                continue
            digest = _digest(module.name, name, content)
            definition, problem = None, None
            try:
                definition = read_definition(name, folder, content)
                problem = suggestion_problem(definition, targets_of_module(module))
            except InvalidInput as error:
                problem = error.message
            definition = None if problem else definition
            is_approved = digest in approved
            found[name] = AgentFile(module, name, "vault", path, content, digest, definition, problem, is_approved)
        return found


def _brought(module: ApprovedModule) -> dict[str, AgentFile]:
    """The agents to which the user agreed with the module."""
    found: dict[str, AgentFile] = {}
    for agent in brought_agents(module.code, module.name):
        digest = _digest(module.name, agent.name, agent.content)
        definition, problem = agent.definition, agent.problem
        if definition is not None and (problem := suggestion_problem(definition, targets_of_module(module))):
            definition = None
        found[agent.name] = AgentFile(
            module, agent.name, "module", agent.path, agent.content, digest, definition, problem, True
        )
    return found


def _digest(module: str, name: str, content: str) -> str:
    # With the module in it: the same file in another module's folder would read other things.
    seen = json.dumps([module, name, content])
    return f"sha256:{hashlib.sha256(seen.encode()).hexdigest()}"


def _content(folder: Path, path: str) -> str:
    """The text of a file; error: InvalidInput."""
    try:
        with Folder.open(folder) as root:
            data = root.read(path, FILE_LIMIT)
    except OSError as error:
        raise InvalidInput(f"The file cannot be read: {error.strerror}.", key="file_unreadable") from error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput("The file is not UTF-8.", key="not_text") from error


def _names(vault: Path, folder: str) -> list[str]:
    """The names of agent files in a folder that is reached without following a link, in order."""
    try:
        with Folder.open(vault) as root, root.folder(folder) as opened:
            files = [entry.name for entry in opened.entries() if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []  # there is no such folder, or a link in its place
    names = sorted(name.removesuffix(".md") for name in files if name.endswith(".md"))
    return [name for name in names if is_name(name)][:MOST]


def _is_written(module: ApprovedModule, folder: str) -> bool:
    return any(Pattern.parse(text).reaches((folder,)) for text in module.manifest.permissions.write)
