"""Units of approved modules, reconciled with the registry."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from starlette.types import ASGIApp

from parachute.base.errors import Conflict, NotFound, ParachuteError, Unavailable
from parachute.config.settings.home import Home
from parachute.events.bus.models import Event
from parachute.events.bus.service import Events
from parachute.modules.manifest.models import NAME
from parachute.modules.registry.models import RunningModules, State
from parachute.modules.registry.service import Modules, NotApproved
from parachute.modules.runtime import description, folders
from parachute.modules.runtime.client import HostClient, HostDown
from parachute.modules.runtime.host import Host
from parachute.modules.runtime.models import AcceptedChange, ApprovedModule, ModuleAgents, OfferedRoute, OfferedTool
from parachute.modules.runtime.origins import ModuleOrigins
from parachute.modules.runtime.requests import Requests
from parachute.modules.runtime.specifications import Wanted, wanted
from parachute.modules.runtime.units import HostUnits
from parachute.sandbox.egress.service import Egress
from parachute.supervisor import units
from parachute.supervisor.logs import log_path
from parachute.supervisor.specifications.host import module_folder

log = logging.getLogger(__name__)

_KIND = "module"

VAULT_CHANGED = "vault.changed"
"""An event that is not kept: a module that sleeps compares what it knows with the vault when it starts."""

_DESCRIBE_SECONDS = 10.0
_DELIVERY_SECONDS = 120.0
_DISABLE_SECONDS = 10.0
_TOOL_SECONDS = 120.0
_REASON_CHARACTERS = 2_000


class Hosts(RunningModules):
    """Opens a unit for every module that may run, and passes questions of others on to modules."""

    def __init__(self, home: Home, modules: Modules, events: Events, egress: Egress) -> None:
        self._home = home
        self._modules = modules
        self._events = events
        self._units = HostUnits(home, egress)
        self._hosts: dict[str, Host] = {}
        self._refused: dict[str, ParachuteError] = {}
        self._problems: dict[str, str] = {}
        self._failures: dict[str, str] = {}
        self._opening: dict[str, Host] = {}
        self._leaving: dict[str, Host] = {}
        self._changing = asyncio.Lock()
        # Twenty new modules would otherwise all start at once, only to say what they offer.
        self._describing = asyncio.Lock()
        self._settled = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._descriptions: set[asyncio.Task[None]] = set()
        self._agents: ModuleAgents | None = None
        self.origins = ModuleOrigins(home.root / "module-origins.json")
        self.requests = Requests()
        self.after_changes: list[Callable[[], Awaitable[None]]] = []
        """Act on it that other units are open than before."""

    def start(self, agents: ModuleAgents, answering: ASGIApp) -> None:
        """Begin to open units; whoever asks for a module before they are open waits.

        `agents` runs what modules ask for, and closes what a module runs when it ends; `answering` answers on the modules' sockets.
        """
        self._agents = agents
        self._units.answer_with(answering)
        self._events.register(_KIND, self._deliver, seconds=_DELIVERY_SECONDS)
        self._modules.listeners.append(self.changed)
        self._later(self._begin(), "units of modules")

    async def close(self) -> None:
        """Leave the units to the supervisor: another core finds them as they are."""
        self._modules.listeners.remove(self.changed)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for host in self._hosts.values():
            if host.listener is not None:
                host.listener.close()

    async def changed(self, revive: str | None = None) -> None:
        """Reconcile the units with the registry; `revive` names a module that may have failed too often.

        Waits a while for what new modules say they offer: the next conversation has their tools.
        """
        await self._follow_registry(revive)
        if self._descriptions:
            await asyncio.wait(self._descriptions, timeout=_DESCRIBE_SECONDS)

    async def restart(self, name: str) -> None:
        """End a module's process: the next request starts it from its files as they are then; errors as for `host`."""
        await self.host(name)
        async with self._changing:
            if (host := self._hosts.get(name)) is not None:
                await self._take_down(name)
                await self._put_up(host.wanted)

    async def host(self, name: str) -> Host:
        """A module that may be asked; errors: NotFound, Conflict if it is disabled or waits for an approval."""
        await self._settled.wait()
        if host := self._hosts.get(name):
            return host
        if NAME.fullmatch(name):
            # What was edited in the vault may have been put back, and the command line may have changed something.
            status = await asyncio.to_thread(self._modules.status, name)
            if status.state is State.READY:
                await self._follow_registry()
            if host := self._hosts.get(name):
                return host
            if status.state is State.INSTALLING:
                raise Unavailable(status.reason or "", "Try again in a minute.", key="module_down")
            if status.state is State.NOT_INSTALLED:
                raise NotFound(f"The module {name} is not installed.", status.reason, key="module_not_installed")
            if status.state is State.DISABLED:
                hint = f"parachute modules enable {name}"
                raise Conflict(f"The module {name} is disabled.", hint, key="module_disabled")
            if status.reason is not None:
                raise NotApproved(status.reason, f"`parachute modules diff {name}` shows what changed.")
            reason = self._problems.get(name) or f"The module {name} is being replaced."
            raise Conflict(reason, key="module_cannot_run")
        raise NotFound(f"There is no module {name[:60]!r}.", key="no_such_module")

    async def explained(self, name: str, error: HostDown) -> ParachuteError:
        """The error with the reason why a module did not answer, if it is known."""
        if refused := self._refused.get(name):
            return refused
        unit: dict[str, Any] = {}
        with contextlib.suppress(ParachuteError):
            unit = (await self._units.states()).get(name, {})
        if reason := self._reason(name, unit):
            said = reason.replace(f"module@{name}", "Its process")
            return HostDown(f"{error.message} {said}", error.hint)
        return error

    def _reason(self, name: str, unit: dict[str, Any]) -> str | None:
        """The reason that a module's unit does not serve: from the module itself, or the supervisor, who knows how often it has ended."""
        said = self._failures.get(name)
        if said and unit.get("state") != "failed":
            return said
        return " ".join(filter(None, (unit.get("reason"), said))) or None

    async def may_start(self, name: str, digest: str, seen: Mapping[str, Any]) -> None:
        """Check that a host may load its module now; errors: NotApproved, Damaged, Conflict, NotAllowed.

        An edit in the vault ends nothing that runs: here it is noticed.
        """
        host = self._known(name)
        if host is None or host.wanted.specification.hash != digest:
            raise Conflict(f"The module {name} is being replaced.", "Try again.", key="module_replaced")
        try:
            if name not in self._leaving:
                # The host verifies every file as well, but this way a person reads why it does not start.
                await asyncio.to_thread(self._modules.runnable, name)
            await asyncio.to_thread(folders.check, host.wanted.specification, seen)
        except ParachuteError as error:
            self._refused[name] = error
            self._later(self._take_down_refused(host), f"refused {name}")
            raise
        self._failures.pop(name, None)
        if not host.is_described:
            # It is awake: nobody has to start it for this later.
            self._later(self._describe(host), f"description of {name}")

    def has_failed(self, name: str, reason: str) -> None:
        """Note why a module could not start, in its host's words; the next start in its place forgets it."""
        self._failures[name] = reason[:_REASON_CHARACTERS]

    def approved(self, name: str) -> ApprovedModule:
        """A module that runs; error: Unavailable."""
        if host := self._known(name):
            return host.module
        raise Unavailable(f"The module {name} is stopping.", key="module_ending")

    def running(self) -> tuple[Host, ...]:
        """All modules with a unit, by name."""
        return tuple(self._hosts[name] for name in sorted(self._hosts))

    def tools(self) -> tuple[OfferedTool, ...]:
        """The MCP tools of all modules that may run."""
        return tuple(tool for host in self.running() for tool in host.description.tools)

    def changes(self) -> tuple[AcceptedChange, ...]:
        """The changes that modules which may run apply when the user has approved them."""
        return tuple(change for host in self.running() for change in host.description.changes)

    def routes(self) -> tuple[OfferedRoute, ...]:
        """The routes of all modules that may run and have said which they have: at their first start, or before."""
        return tuple(route for host in self.running() for route in host.description.routes)

    async def call_tool(self, name: str, arguments: dict[str, Any], caller: str) -> str:
        """Call a module's tool for somebody; errors: NotFound, HostDown, and what the tool says."""
        for tool in self.tools():
            if tool.name == name:
                document = {"name": name, "arguments": arguments, "caller": caller}
                answer = await self.ask(tool.module, "tool", document, _TOOL_SECONDS)
                return str(answer.get("content", "")) if isinstance(answer, dict) else ""
        raise NotFound(f"There is no tool {name[:64]!r}.", key="no_such_tool")

    async def ask_route(self, name: str, target: str) -> Any:
        """Read from a route of a module, by its path and query; errors: NotFound, Conflict, HostDown, and what it answers."""
        host = await self.host(name)
        try:
            return await host.read(target)
        except HostDown as error:
            raise await self.explained(name, error) from error

    async def ask(self, name: str, what: str, document: Any, seconds: float = 60) -> Any:
        """Ask a module something other than its routes; errors: NotFound, Conflict, HostDown, and what it answers."""
        host = await self.host(name)
        try:
            return await host.control("POST", what, document, seconds)
        except HostDown as error:
            raise await self.explained(name, error) from error

    async def unit_states(self) -> dict[str, dict[str, Any]]:
        """Of each module: what its unit does, how many events wait for it, and why it has none if it should."""
        states = await self._units.states()
        found: dict[str, dict[str, Any]] = {}
        for name in {*states, *self._problems}:
            unit = states.get(name, {"state": "stopped", "reason": self._problems.get(name), "restarts": 0})
            found[name] = {
                **unit,
                "reason": self._reason(name, unit),
                "process": unit.get("process"),
                "backlog": self._events.backlog(name),
            }
        return found

    async def _begin(self) -> None:
        try:
            await asyncio.to_thread(self._modules.recover)
            async with self._changing:
                await self._reconcile(None)
                for name in await self._units.states():
                    if name not in self._hosts:
                        await self._units.close(name, forget=True)
            await self._after()
        except ParachuteError as error:
            log.error("Modules cannot be started: %s", error)
        finally:
            self._settled.set()

    async def _follow_registry(self, revive: str | None = None) -> None:
        async with self._changing:
            await self._reconcile(revive)
        await self._after()

    async def _after(self) -> None:
        for follow in self.after_changes:
            await follow()

    async def _reconcile(self, revive: str | None) -> None:
        found, self._problems = await asyncio.to_thread(wanted, self._modules)
        for name in self._hosts.keys() - {each.module.name for each in found}:
            await self._take_down(name, leaves=name not in self._problems)
        remaining = {each.module.name for each in found} | self._problems.keys()
        for name in set(self._events.subscribers(_KIND)) - remaining:
            # It had no unit when it left: it waited for an approval, or core was not there.
            await self._events.remove_subscriber(name)
        for each in found:
            name = each.module.name
            try:
                if name in self._refused:
                    status = await asyncio.to_thread(self._modules.status, name)
                    if status.state is not State.READY:
                        continue
                host = self._hosts.get(name)
                if host is not None and host.wanted == each:
                    if revive == name:
                        await self._units.revive(name)
                    continue
                if host is not None:
                    await self._take_down(name)
                await self._put_up(each)
            except (ParachuteError, OSError) as error:
                log.error("The module %s cannot be started: %s", name, error)
                self._problems[name] = str(error)

    async def _put_up(self, each: Wanted) -> None:
        name = each.module.name
        client = HostClient(name, units.module_socket(self._home, name), log_path(self._home, f"module@{name}"))
        host = Host(each, client, module_folder(name, self._home.root) / "description.json")
        if kept := await asyncio.to_thread(description.load_stored, host.description_file, each):
            host.description, host.is_described = kept, True
        self._refused.pop(name, None)
        self._failures.pop(name, None)
        # One that is always on asks at once whether it may start; nobody else can ask it anything before its socket is there.
        self._opening[name] = host
        try:
            host.listener = await self._units.open(each)
        finally:
            del self._opening[name]
        self._hosts[name] = host
        patterns = sorted({hook.event for hook in host.manifest.hooks} - {VAULT_CHANGED})
        if patterns:
            await self._events.add_subscriber(name, patterns, _KIND)
        else:
            await self._events.remove_subscriber(name)
        if not host.is_described and description.is_needed(host.manifest):
            task = self._later(self._describe(host), f"description of {name}")
            self._descriptions.add(task)
            task.add_done_callback(self._descriptions.discard)

    async def _take_down(self, name: str, *, leaves: bool = False) -> None:
        """End a unit; `leaves`: the user disabled or removed the module, whose on_disable is called."""
        host = self._hosts.pop(name)
        await self._events.pause_subscriber(name)
        if leaves:
            self._leaving[name] = host
            try:
                await host.control("POST", "lifecycle", {"step": "disable"}, _DISABLE_SECONDS)
            except ParachuteError as error:
                log.warning("The module %s could not run its on_disable: %s", name, error)
            finally:
                del self._leaving[name]
            await self._events.remove_subscriber(name)
        host.client.end_answers()
        if self._agents is not None:
            await self._agents.close_module(name)
        await self._units.close(name, host.listener, forget=leaves)

    async def _take_down_refused(self, host: Host) -> None:
        async with self._changing:
            if self._hosts.get(host.module.name) is host:
                await self._take_down(host.module.name)

    async def _describe(self, host: Host) -> None:
        name = host.module.name
        try:
            async with self._describing:
                if host.is_described or self._hosts.get(name) is not host:
                    return  # asked while this one waited, or gone
                said = await host.control("GET", "describe")
            host.description, host.is_described = description.read(said, host.manifest), True
            if not host.wanted.specification.dev:
                await asyncio.to_thread(description.store, host.description_file, host.wanted, said)
            await self._after()
        except (ParachuteError, OSError) as error:
            log.warning("The tools and routes of the module %s are unknown: %s", name, error)

    def _known(self, name: str) -> Host | None:
        return self._hosts.get(name) or self._opening.get(name) or self._leaving.get(name)

    async def _deliver(self, subscriber: str, event: Event) -> None:
        document = {"id": event.id, "name": event.name, "data": event.data, "timestamp": event.timestamp}
        await self.ask(subscriber, "event", document, _DELIVERY_SECONDS)

    def _later(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
