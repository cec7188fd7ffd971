"""Origins of conversations, and of what their tools read: files, modules and the network."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from parachute.base.errors import ParachuteError
from parachute.changes.contents import content_of
from parachute.changes.service import Changes
from parachute.chat.imports.models import PLACE
from parachute.chat.knowledge.service import INTERFACE
from parachute.chat.origins.run_origin import RunOrigin
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.service import Sessions
from parachute.config.settings.home import Home
from parachute.config.vault.service import Vault
from parachute.core.patterns import parts_of
from parachute.modules.runtime.interfaces import Interfaces
from parachute.modules.runtime.models import ApprovedModule
from parachute.modules.runtime.service import Hosts
from parachute.sandbox.engines import caches
from parachute.security.origin import Origin, lowest

_AGENT = "agent:"
_WILDCARDS = frozenset("*?[{")


class Origins:
    """Knows the runs that are under way, and where what they read came from."""

    def __init__(
        self, vault: Vault, sessions: Sessions, changes: Changes, hosts: Hosts, interfaces: Interfaces
    ) -> None:
        self._vault = vault
        self._sessions = sessions
        self._changes = changes
        self._hosts = hosts
        self._interfaces = interfaces
        self._active: dict[str, RunOrigin] = {}
        self._shared: dict[str, Sequence[Path]] = {}

    async def begin(self, session: str) -> RunOrigin:
        """The origin of a run that begins: what the conversation has read before counts until a new one begins."""
        self._active[session] = found = RunOrigin(self._sessions, session, await self._sessions.origin(session))
        return found

    def end(self, session: str) -> None:
        """A run has ended."""
        self._active.pop(session, None)

    async def answering(self, session: str, module: str) -> None:
        """Take in what a tool of a module is about to answer: what the module has read for it counts as well."""
        if running := self._active.get(session):
            await running.lower(await self.of_module(module))

    async def of_session(self, session: str) -> Origin:
        """The lowest origin of what a conversation has read."""
        return await self._sessions.origin(session)

    async def went_out(self, owner: str) -> None:
        """Take in the network for a conversation, from whose sandbox a connection is about to be made."""
        session = owner.removeprefix(_AGENT)
        # Whatever runs in its sandbox may put it there, also when nobody waits for it.
        await self.wrote(self._shared.get(session, ()), Origin.WEB)
        if running := self._active.get(session):
            await running.lower(Origin.WEB)
        elif await self._sessions.find(session) is not None:
            await self._sessions.lower_origin(session, Origin.WEB)

    async def of_files(self, places: Sequence[Path], known: Origin = Origin.OWN_FILE) -> Origin:
        """The lowest origin of what is at some places of this machine, or below them.

        One that is not below what is `known` already need not be the lowest.
        """
        placed = self._of_places([each.resolve() for each in places])
        noted = await self._changes.lineage.lowest_of(places, lowest(known, placed))
        return lowest(placed, noted or placed)

    async def of_contents(self, contents: Sequence[bytes]) -> Origin:
        """The lowest origin of contents that the owner gives."""
        digests = await asyncio.to_thread(lambda: [content_of(each)[0] for each in contents])
        return await self._changes.lineage.of_contents(digests) or Origin.OWN_FILE

    async def are_told(self, places: Sequence[Path]) -> bool:
        """Return whether agents are told one of some files whatever it is called, since a file of instructions imports it."""
        return any([await self._changes.instructions.is_told(each) for each in places])

    async def moved(self, place: Path, target: Path) -> None:
        """Note that the owner is about to move something: what is known of its place goes with it."""
        if os.path.lexists(target):
            return  # it will be refused
        await self._changes.lineage.moved(place, target)
        placed = self._of_places([place.resolve()])
        if placed.is_below(Origin.OWN_FILE):
            await self._changes.lineage.wrote(target, [""], placed)

    async def of_cache(self, folder: Path) -> Origin:
        """The lowest origin of all that have written to a folder of caches: nobody knows which file is whose."""
        return await self._changes.lineage.of_whole(folder) or Origin.AGENT_FILE

    async def cache(self, home: Home, session: Session, project: Path | None) -> int:
        """The number of those caches of a project that a conversation may share: with others that have read what it has.

        Nothing is shared between those that know of you and agents alone and those that have read more.
        """
        if project is None:
            return 0
        now = lowest(await self._sessions.origin(session.id), Origin.GUEST if session.from_outside else Origin.OWNER)
        number = 0
        while True:
            written = await self._changes.lineage.of_whole(caches.place_of(home, project, number))
            if now.may_record and (written is None or written.may_record):
                return number
            is_as_low = written is not None and not written.may_record and not written.is_below(now)
            if not now.may_record and (is_as_low or (written is None and number)):
                return number
            number += 1

    def shares(self, session: str, places: Sequence[Path]) -> None:
        """Note where the sandbox of a session writes what others read at once."""
        self._shared[session] = places

    async def wrote(self, places: Sequence[Path], origin: Origin) -> None:
        """Note that a run may have written anything in these folders."""
        for each in places:
            await self._changes.lineage.wrote(each, [""], origin)

    async def of_module(self, name: str) -> Origin:
        """The lowest origin of what a tool of a module may answer."""
        try:
            module = self._hosts.approved(name)
        except ParachuteError:
            return Origin.UNTRUSTED_MODULE  # it has gone, and nobody knows what it was
        return lowest(self._hosts.origins.of_words(module), await self._of_folders(module))

    async def of_knowledge(self) -> Origin:
        """The lowest origin of what modules know of a message."""
        module = self._interfaces.provider(INTERFACE)
        if module is None:
            return Origin.UNTRUSTED_MODULE
        return lowest(self._hosts.origins.of(module), await self._of_folders(module))

    def _of_places(self, places: Sequence[Path]) -> Origin:
        """The lowest origin that places have by what they are for."""
        found = [Origin.OWN_FILE]
        root = self._vault.root.resolve()
        imported = root / PLACE
        for module in (host.module for host in self._hosts.running()):
            folders = [_fixed(root, each) for each in module.manifest.permissions.write]
            if any(_overlap(one, other) for one in places for other in folders):
                found.append(self._hosts.origins.of(module))
        if any(_overlap(each, imported) for each in places):
            # An empty folder brings nothing, and most computers have none.
            found.append(Origin.IMPORT if imported.is_dir() else Origin.OWN_FILE)
        hidden = (self._vault.state.resolve(), self._vault.transcripts.resolve())
        if any(_overlap(one, other) for one in places for other in hidden):
            # Other conversations, whatever they have read.
            found.append(Origin.IMPORT)
        return lowest(*found)

    async def _of_folders(self, module: ApprovedModule) -> Origin:
        permissions = module.manifest.permissions
        patterns = (*permissions.read, *permissions.write)
        return await self.of_files([_fixed(self._vault.root, each) for each in patterns]) if patterns else Origin.OWNER


def _overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _fixed(vault: Path, pattern: str) -> Path:
    """The folder below which everything lies that a pattern means."""
    place = vault
    for part in parts_of(pattern):
        if _WILDCARDS & set(part):
            break
        place /= part
    return place
