"""Providers of interfaces, and calls from one module to another."""

import asyncio
import time
from collections import Counter
from typing import Any

from parachute.base.errors import NotAllowed, ParachuteError, Unavailable
from parachute.modules.manifest.interface_rights import is_allowed, is_writing, level_of
from parachute.modules.manifest.models import InterfaceName
from parachute.modules.runtime.host import Host
from parachute.modules.runtime.models import ApprovedModule
from parachute.modules.runtime.service import Hosts
from parachute.security.audit.records import para_ids
from parachute.security.audit.service import Audit
from parachute.security.origin import Origin

_AT_ONCE = 64
_SECONDS = 60.0
_CORE = "core"


class Interfaces:
    """Calls are made with the rights of whoever calls: it reaches nothing that its own manifest does not ask for in words.

    The provider answers with its own rights, so this is the place where those of the caller are asked for.
    """

    def __init__(self, hosts: Hosts, audit: Audit | None = None) -> None:
        self._hosts = hosts
        self._audit = audit
        self._calls: Counter[str] = Counter()

    def provided(self, caller: str) -> dict[str, dict[str, tuple[str, ...]]]:
        """The interfaces that a module may use and somebody provides now, with methods and names of arguments."""
        found = {}
        manifest = self._hosts.approved(caller).manifest
        for wanted in manifest.optional_requires:
            if level_of(manifest, wanted.name) == "none":
                continue
            if provider := self._provider(wanted):
                methods = (provider.description.interfaces or {}).get(wanted.name)
                if methods:
                    found[wanted.name] = methods
        return found

    async def call(self, caller: str, interface: str, method: str, arguments: dict[str, Any]) -> Any:
        """Call a method of an interface for a module; errors: NotAllowed, Unavailable, HostDown, and what it answers."""
        module = self._hosts.approved(caller)
        wanted = next((each for each in module.manifest.optional_requires if each.name == interface), None)
        if wanted is None:
            raise NotAllowed(
                f"The manifest of {caller} does not list {interface[:60]}, or the module is not trusted.",
                f"Add it to optional_requires in manifest.yaml, and approve {caller} again.",
                key="interface_not_named",
            )
        if not is_allowed(module.manifest, interface, method):
            raise NotAllowed(
                f"The permissions of {caller} do not cover {interface[:60]}.{method[:60]}.",
                "Write `conversations` or `journal` with `read` or `write` under permissions in manifest.yaml, and approve "
                f"{caller} again.",
                key="interface_not_permitted",
            )
        if is_writing(interface, method) and (provider := self._provider(wanted)):
            # What it is told it may write down, or say in a conversation.
            await self._hosts.origins.has_read(provider.module.name, self._hosts.origins.of_words(module))
        return await self._call(caller, wanted, method, arguments, _SECONDS)

    def is_provided(self, interface: str) -> bool:
        """True if a module provides an interface that the server uses."""
        return self._provider(InterfaceName(interface)) is not None

    def provider(self, interface: str) -> ApprovedModule | None:
        """The module that provides an interface that the server uses."""
        host = self._provider(InterfaceName(interface))
        return host.module if host else None

    async def wake(self, interface: str) -> None:
        """Start whoever provides an interface, and whoever provides what that module uses, so that the next call is quick."""
        provider = self._provider(InterfaceName(interface))
        if provider is None:
            return
        used = (self._provider(wanted) for wanted in provider.manifest.optional_requires)
        hosts = {host.module.name: host for host in (provider, *used) if host is not None}
        await asyncio.gather(*(host.control("GET", "health") for host in hosts.values()), return_exceptions=True)

    async def call_for_core(self, interface: str, method: str, arguments: dict[str, Any], seconds: float) -> Any:
        """Call a method of an interface for core itself; errors: Unavailable, HostDown, and what it answers."""
        return await self._call(_CORE, InterfaceName(interface), method, arguments, seconds)

    async def tell(self, interface: str, origin: Origin) -> None:
        """Note the origin of what core itself is about to tell the provider of an interface."""
        if provider := self._provider(InterfaceName(interface)):
            await self._hosts.origins.has_read(provider.module.name, origin)

    async def _call(
        self, caller: str, wanted: InterfaceName, method: str, arguments: dict[str, Any], seconds: float
    ) -> Any:
        provider = self._provider(wanted)
        if provider is None:
            raise Unavailable(
                f"No module provides {wanted}.", "Install or enable a module that does.", key="no_provider"
            )
        if self._calls[caller] >= _AT_ONCE:
            raise Unavailable(
                f"The module {caller} has made {_AT_ONCE} calls that are not answered yet.", key="too_many_calls"
            )
        self._calls[caller] += 1
        started, error = time.monotonic(), "It did not end well."
        try:
            document = {"interface": wanted.name, "method": method, "arguments": arguments, "caller": caller}
            answer = await self._hosts.ask(provider.module.name, "interface", document, seconds)
            error = ""
        except ParachuteError as failure:
            error = failure.key
            raise
        finally:
            self._calls[caller] -= 1
            # Afterwards: the provider may have read something for it.
            await self._hosts.origins.has_read(caller, self._hosts.origins.of_words(provider.module))
            self._record(caller, provider.module.name, f"{wanted.name}.{method}", para_ids(arguments), started, error)
        if not isinstance(answer, dict) or "result" not in answer:
            raise ParachuteError(f"The module {provider.module.name} gave no result.", key="no_result")
        return answer["result"]

    def _record(self, caller: str, module: str, endpoint: str, involved: list[str], started: float, error: str) -> None:
        if self._audit is not None:
            self._audit.append(
                event_type="module_call",
                source_type="core" if caller == _CORE else "module",
                source_id=caller,
                target_module=module,
                target_endpoint=endpoint[:200],
                para_ids_involved=involved,
                duration_ms=round((time.monotonic() - started) * 1000),
                success=not error,
                error=error or None,
            )

    def _provider(self, wanted: InterfaceName) -> Host | None:
        for host in self._hosts.running():
            if any(provided.satisfies(wanted) for provided in host.manifest.provides):
                return host
        return None
