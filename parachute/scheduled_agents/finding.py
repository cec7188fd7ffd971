"""The agents of a module: those that it brings, and the user's own in the vault, which replace them by name."""

import asyncio
import hashlib
import json
from pathlib import Path, PurePosixPath
from typing import Literal

from parachute.approvals import ApprovedHashes
from parachute.core.files import Files
from parachute.core.patterns import Pattern
from parachute.errors import InvalidInput, ParachuteError
from parachute.hosts.models import ApprovedModule
from parachute.module_agents.prompt import read_below
from parachute.modules.models import Trust
from parachute.scheduled_agents.definition import FILE_LIMIT, NAME, front_matter, read_definition
from parachute.scheduled_agents.models import AgentFile

_MOST = 50
_BROUGHT = "agents"
_OWN = ".agents"
_RESERVED = frozenset({"status"})
"""Names that are parts of addresses."""


class AgentFiles:
    """Finds agents; what lies in the vault is approved by its hash in the folder of trust."""

    def __init__(self, vault: Path, approved: ApprovedHashes) -> None:
        self._vault = vault
        self._approved = approved

    async def of(self, module: ApprovedModule) -> tuple[AgentFile, ...]:
        """All agents of a module, by name; a module that is not trusted has none.

        Error: InvalidInput if what is approved cannot be read.
        """
        if module.trust is Trust.UNTRUSTED:
            return ()
        folder = own_folder(module)
        found: dict[str, AgentFile] = {}
        for name in await _names(module.code, _BROUGHT):
            agent = await asyncio.to_thread(self._brought, module, folder, name)
            if agent is not None:
                found[name] = agent
        if _is_written(module, folder):
            names = await _names(self._vault, f"{folder}/{_OWN}")
            if names:
                found |= await asyncio.to_thread(self._own, module, folder, names)
        return tuple(found[name] for name in sorted(found))

    def _brought(self, module: ApprovedModule, folder: str, name: str) -> AgentFile | None:
        path = f"{_BROUGHT}/{name}.md"
        try:
            content = _content(module.code, path)
            fields, _ = front_matter(content)
        except ParachuteError:
            return None  # it is no agent of ours: a module may keep prompts of other agents there
        if fields is None or "schedule" not in fields:
            return None
        return _agent(module, folder, name, "module", path, content, None)

    def _own(self, module: ApprovedModule, folder: str, names: list[str]) -> dict[str, AgentFile]:
        approved = self._approved.digests()
        found: dict[str, AgentFile] = {}
        for name in names:
            path = f"{folder}/{_OWN}/{name}.md"
            try:
                found[name] = _agent(module, folder, name, "vault", path, _content(self._vault, path), approved)
            except ParachuteError as error:
                found[name] = AgentFile(module, name, "vault", path, "", "", None, error.message, False)
        return found


def own_folder(module: ApprovedModule) -> str:
    """The folder of the vault in which a module's agents may lie: its name with a capital letter."""
    return module.name.title()


def _agent(
    module: ApprovedModule,
    folder: str,
    name: str,
    source: Literal["module", "vault"],
    path: str,
    content: str,
    approved: frozenset[str] | None,
) -> AgentFile:
    """An agent as its file is; `approved` None means that the user agreed to it with the module."""
    digest = _digest(module.name, name, content)
    definition, problem = None, None
    try:
        definition = read_definition(name, folder, content)
    except InvalidInput as error:
        problem = error.message
    is_approved = approved is None or digest in approved
    return AgentFile(module, name, source, path, content, digest, definition, problem, is_approved)


def _digest(module: str, name: str, content: str) -> str:
    # With the module in it: the same file in another module's folder would read other things.
    seen = json.dumps([module, name, content])
    return f"sha256:{hashlib.sha256(seen.encode()).hexdigest()}"


def _content(folder: Path, path: str) -> str:
    """The text of a file; error: InvalidInput."""
    try:
        data = read_below(folder, PurePosixPath(path), FILE_LIMIT)
    except OSError as error:
        raise InvalidInput(f"The file cannot be read: {error.strerror}.") from error
    if data is None or len(data) > FILE_LIMIT:
        raise InvalidInput(f"It is no file, or longer than {FILE_LIMIT:,} bytes.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput("The file is not UTF-8.") from error


async def _names(root: Path, folder: str) -> list[str]:
    """The names of agent files in a folder that is reached without following a link."""
    try:
        entries = await Files(root, read=[f"{folder}/*.md"]).list(folder)
    except ParachuteError:
        return []  # there is no such folder, or a link in its place
    names = [entry.name.removesuffix(".md") for entry in entries if entry.kind == "file"]
    return [name for name in names if NAME.fullmatch(name) and name not in _RESERVED][:_MOST]


def _is_written(module: ApprovedModule, folder: str) -> bool:
    return any(Pattern.parse(text).reaches((folder,)) for text in module.manifest.permissions.write)
