"""Notifying running modules of changes in the vault; others compare what they know when they start."""

import asyncio
import logging
import uuid

from parachute.base.clock import now
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.core.patterns import Pattern, matches_any, parts_of
from parachute.events.file_watcher.service import VaultWatcher
from parachute.modules.runtime.host import Host
from parachute.modules.runtime.service import VAULT_CHANGED, Hosts

log = logging.getLogger(__name__)

_SECONDS = 30.0
_AWAKE = ("starting", "running")


class VaultChanges:
    """Delivers changes, once, to modules whose manifest names `vault.changed`, of files that they may read."""

    def __init__(self, hosts: Hosts, watcher: VaultWatcher) -> None:
        self._hosts = hosts
        self._watcher = watcher

    async def follow(self) -> None:
        """Watch while a module wants to know, and not otherwise; called whenever the modules have changed."""
        if any(map(_wants, self._hosts.running())):
            self._watcher.listen(self._notify)
        else:
            await self._watcher.forget(self._notify)

    async def _notify(self, paths: frozenset[str]) -> None:
        wanting = [host for host in self._hosts.running() if _wants(host)]
        try:
            states = await self._hosts.unit_states() if wanting else {}
        except ParachuteError:
            return  # the supervisor is ending: whoever starts next compares what it knows with the files
        awake = [host for host in wanting if states.get(host.module.name, {}).get("state") in _AWAKE]
        await asyncio.gather(*(self._notify_one(host, paths) for host in awake))

    async def _notify_one(self, host: Host, paths: frozenset[str]) -> None:
        readable = sorted(path for path in paths if _may_read(host, path))
        if not readable:
            return
        event = {"id": str(uuid.uuid4()), "name": VAULT_CHANGED, "data": {"paths": readable}, "timestamp": now()}
        try:
            await host.control("POST", "event", event, _SECONDS)
        except ParachuteError as error:
            log.warning("The module %s was not notified of changes in the vault: %s", host.module.name, error)


def _wants(host: Host) -> bool:
    return any(hook.event == VAULT_CHANGED for hook in host.manifest.hooks)


def _may_read(host: Host, path: str) -> bool:
    permissions = host.manifest.permissions
    if not host.wanted.specification.read and not host.wanted.specification.write:
        return False
    try:
        parts = parts_of(path)
    except InvalidInput:
        return False
    return matches_any(map(Pattern.parse, (*permissions.read, *permissions.write)), parts)
