"""MCP servers for conversations and for apps."""

import asyncio
import contextlib
import logging
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, ParachuteError, Unavailable
from parachute.capabilities.mcp_servers.catalog import Catalog, Listed, ServerSource
from parachute.capabilities.mcp_servers.client import ToolFailed
from parachute.capabilities.mcp_servers.elicitations import Elicitations
from parachute.capabilities.mcp_servers.logins.links import Links
from parachute.capabilities.mcp_servers.logins.models import LoginHearing, Pending, callback_address
from parachute.capabilities.mcp_servers.models import BUILT_IN, Runnable, Server
from parachute.capabilities.mcp_servers.offers import Offer, offer_of
from parachute.capabilities.mcp_servers.remembered import Known, keep, read
from parachute.capabilities.mcp_servers.remote.service import Remote
from parachute.capabilities.mcp_servers.resources import LIST, LONGEST_ADDRESS
from parachute.capabilities.mcp_servers.running import Running
from parachute.capabilities.mcp_servers.statuses import Statuses
from parachute.capabilities.mcp_servers.words import (
    Words,
    described,
    digest_of_words,
    need_approval,
    origin_of_answers,
)
from parachute.chat.agent_processes.listed_tools import server_tool_listed
from parachute.chat.agent_processes.models import ModuleTools, ServerTool, shown_name
from parachute.chat.agent_processes.tools import CALL_SECONDS
from parachute.chat.workspaces.models import Choice, allowed
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.sandbox.egress.service import Egress
from parachute.security.audit.service import Audit
from parachute.security.origin import Origin

log = logging.getLogger(__name__)

_ASKED_SECONDS = 12.0
"""Longest wait of a person until a server has listed its tools; it goes on starting after that."""

_LIST_SECONDS = 30.0

_AGAIN_SECONDS = 60.0
"""A server that failed is not asked for its tools again before that, so that no turn waits for it."""

_ASKED_AGAIN_SECONDS = 2.0
"""Longest wait for that of a turn, which goes on with what is known; the next one has the rest."""

Warning_ = tuple[str, str]


class McpServers:
    """`modules` are the tools of modules, which are listed as the computer's own server.

    `changed` is called when a login begins or ends to be wanted, or a server describes its tools anew. `shown` hears the name of
    a server that the list shows in another way by itself, and not since somebody has asked for it.
    """

    def __init__(
        self,
        home: Home,
        settings: Settings,
        egress: Egress,
        modules: ModuleTools,
        audit: Audit,
        changed: Callable[[], None],
        shown: Callable[[str], None],
        others: ServerSource | None = None,
        clock: Clock = SYSTEM,
    ) -> None:
        self._clock = clock
        self.catalog = Catalog(home, settings.vault, settings.project_folders, others)
        self.statuses = Statuses()
        self.words = Words(home.root)
        self._changed = changed
        hearing = LoginHearing(changed, shown, self._ask_anew)
        self.remote = Remote(settings, self.catalog, egress, audit, hearing, clock)
        self._here = callback_address(settings.port)
        self.links = Links(partial(self.begin_login_here, unasked=True), self.remote.logins.link, changed, clock)
        self._modules = modules
        self._outdated: set[str] = set()
        self.elicitations = Elicitations(changed, clock)
        self._running = Running(home, self.catalog, egress, self.remote, self._outdated.add, self.elicitations, clock)
        self._known: dict[str, Known] = {}
        self._asking: dict[str, tuple[Runnable, asyncio.Task[Offer]]] = {}
        self._asks: set[asyncio.Task[Offer]] = set()
        self._failed: dict[str, tuple[Runnable, float, ParachuteError]] = {}

    async def start(self) -> None:
        """End the MCP servers that the last process left."""
        await self._running.start()

    async def end_all(self) -> None:
        """End every MCP server and every connection; none begins while the kill switch is on."""
        await self._running.end_all()

    async def close(self) -> None:
        """End every server."""
        asks = list(self._asks)
        for task in asks:
            task.cancel()
        await asyncio.gather(*asks, return_exceptions=True)
        await self._running.close()
        await self.links.close()
        await self.remote.close()

    async def listed(self) -> tuple[Listed, ...]:
        """All servers of the file; error: InvalidInput if the approvals cannot be read."""
        return await asyncio.to_thread(self.catalog.listed)

    def running(self) -> frozenset[str]:
        """The names of those that run now."""
        return self._running.names()

    async def offered(
        self, choice: Choice, allowed_tools: tuple[str, ...] | None, plugins: Choice = "all"
    ) -> tuple[tuple[ServerTool, ...], tuple[Warning_, ...]]:
        """The tools of the servers that a choice names, as far as an agent's own list allows, and what went wrong.

        Of servers that a plugin brings, those of the chosen `plugins`.

        Never raises for a server: without it the conversation goes on.
        """
        if choice == "none":
            return (), ()
        try:
            listed = await asyncio.to_thread(self.catalog.listed)
        except ParachuteError as error:
            return (), (("MCP servers", str(error)),)
        wanted = [each for each in listed if _chosen(choice, plugins, each.server)]
        runnable = [each.runnable for each in wanted if each.runnable is not None]
        found = await asyncio.gather(*(self._tools(each) for each in runnable))
        approved = await asyncio.to_thread(self.words.approved)
        tools: list[ServerTool] = []
        warnings = [
            ("MCP server", f"{each.server.name[:40]} is left out. {each.problems[0]}")
            for each in wanted
            if each.runnable is None and (each.approval is not None or not isinstance(choice, str))
        ]
        for each, answer in zip(runnable, found, strict=True):
            if isinstance(answer, ParachuteError):
                warnings.append(("MCP server", f"{each.server.name} is left out. {answer}"))
            else:
                tools += self._server_tools(each, answer, choice, allowed_tools, approved)
                if answer.left_out:
                    warnings.append(
                        ("MCP server", f"{each.server.name} has tools that no agent gets. {answer.summary}")
                    )
        return tuple(tools), tuple(warnings[:5])

    async def call(self, server: str, tool: str, arguments: dict[str, Any]) -> str:
        """Call a tool of a server that is approved as it is now; errors: ParachuteError, for the agent to read."""
        runnable = await asyncio.to_thread(self.catalog.runnable, server)
        known = self._known.get(server)
        offer = known.offer if known else Offer()
        try:
            with _unavailable_for_any_reason(server):
                answer = await self._called(runnable, offer, tool, arguments)
        except ParachuteError as error:
            if not isinstance(error, ToolFailed):
                self._outdated.add(server)  # it may not have this tool any more
            self.statuses.note(runnable, error)
            raise
        self.statuses.note(runnable, None)
        return answer

    async def _called(self, runnable: Runnable, offer: Offer, tool: str, arguments: dict[str, Any]) -> str:
        if tool not in offer.own:
            said, output = offer.names.get(tool, tool), offer.outputs.get(tool)
            return await self._running.call(runnable, said, arguments, CALL_SECONDS, output)
        if tool == LIST:
            return await self._running.resources(runnable, CALL_SECONDS)
        address = arguments.get("uri")
        if not isinstance(address, str) or not 0 < len(address) <= LONGEST_ADDRESS:
            raise ToolFailed(f"uri: expected an address of up to {LONGEST_ADDRESS:,} characters.")
        return await self._running.read(runnable, address, CALL_SECONDS)

    async def offer(self, name: str) -> Offer:
        """The offer of a server, asked anew; errors: NotFound, NotAllowed, InvalidInput, Unavailable."""
        if name == BUILT_IN:
            return Offer(self._modules.tools())
        runnable = await asyncio.to_thread(self.catalog.runnable, name)
        return await self._ask(runnable)

    async def add(self, name: str, fields: dict[str, Any]) -> Listed:
        """Write a server into the file and approve what the user has just typed, without hosts and folders.

        Errors: InvalidInput, Conflict.
        """

        def add() -> Listed:
            self.catalog.add(name, fields)
            try:
                self.catalog.approve(self.catalog.review(name))
            except ParachuteError as error:
                log.info("The MCP server %s was added and not approved: %s", name, error)
            return self.catalog.get(name)

        return await asyncio.to_thread(add)

    async def remove(self, name: str) -> None:
        """Take a server out of the file and end it; errors: NotFound, NotAllowed for the computer's own."""
        await asyncio.to_thread(self.catalog.remove, name)
        await asyncio.to_thread(self.words.withdraw, name)
        self._known.pop(name, None)
        self.statuses.forget(name)
        await self._running.end(name)
        await self.remote.logins.forget(name)

    async def begin_login(
        self,
        name: str,
        redirect: str,
        hosts: Sequence[str] = (),
        client: tuple[str, str | None] | None = None,
        *,
        unasked: bool = False,
    ) -> Pending:
        """Begin to sign in to a server elsewhere; it may reach `hosts` from now on, since the user has named them.

        One that somebody has begun meanwhile goes before an `unasked` one.

        Errors: NotFound, NotAllowed, InvalidInput, Conflict, LoginFailed, Unavailable.
        """
        runnable = await asyncio.to_thread(self.catalog.runnable, name)
        if not runnable.server.is_remote:
            raise Conflict(f"{name} is a local MCP server and needs no login.", key="no_login_needed")
        if hosts:

            def allow() -> Runnable:
                self.catalog.approve(self.catalog.review(name, (*runnable.approval.hosts, *hosts)))
                return self.catalog.runnable(name)

            runnable = await asyncio.to_thread(allow)
        headers = await self.remote.headers(runnable)
        return await self.remote.logins.begin(runnable, redirect, headers, client, unasked=unasked)

    async def begin_login_here(self, name: str, *, unasked: bool = False) -> Pending:
        """Begin to sign in with a browser of this machine; errors as for `begin_login`."""
        return await self.begin_login(name, self._here, unasked=unasked)

    async def logout(self, name: str) -> bool:
        """Sign out of a server elsewhere, and return whether anybody was signed in; error: NotFound."""
        await asyncio.to_thread(self.catalog.get, name)
        return await self.remote.logins.forget(name)

    def _ask_anew(self, name: str) -> None:
        # Nobody who asks from now on is to hear what the login before had answered.
        self._asking.pop(name, None)
        self._failed.pop(name, None)
        self.statuses.forget(name)

    async def _tools(self, runnable: Runnable) -> Offer | ParachuteError:
        name = runnable.server.name
        known = self._known.get(name)
        if known is None or known.runnable != runnable:
            known = await asyncio.to_thread(read, self.catalog, runnable)
            if known is not None:
                self._known[name] = known
        if known is not None and known.is_new(self._clock.now().timestamp()) and name not in self._outdated:
            return known.offer
        failed = self._failed.get(name)
        if failed and failed[0] == runnable and self._clock.elapsed() - failed[1] < _AGAIN_SECONDS:
            return failed[2] if known is None else known.offer
        try:
            return await self._ask(runnable, _ASKED_SECONDS if known is None else _ASKED_AGAIN_SECONDS)
        except ParachuteError as error:
            return error if known is None else known.offer

    async def _ask(self, runnable: Runnable, seconds: float = _ASKED_SECONDS) -> Offer:
        name = runnable.server.name
        asked, task = self._asking.get(name, (None, None))
        if task is None or asked != runnable or task.done():
            task = asyncio.create_task(self._asked(runnable), name=f"tools of {name}")
            self._asking[name] = runnable, task
            self._asks.add(task)
            task.add_done_callback(self._asks.discard)
            task.add_done_callback(_retrieve)
        with contextlib.suppress(TimeoutError):
            async with self._clock.timeout(seconds):
                await asyncio.wait({task})
        if task.done() and not task.cancelled():
            return task.result()
        raise Unavailable(
            f"The MCP server {name} did not list its tools within {seconds:.0f} s.",
            "Try again in a minute."
            if runnable.server.is_remote
            else f"It may still be starting: try again in a minute. `parachute logs mcp@{name}` shows what it prints.",
            key="still_starting",
        )

    async def _asked(self, runnable: Runnable) -> Offer:
        name = runnable.server.name
        self._outdated.discard(name)  # what it says from now on counts
        try:
            with _unavailable_for_any_reason(name):
                offer = await self.learn(runnable, await self._running.tools(runnable, _LIST_SECONDS))
        except ParachuteError as error:
            log.warning("The MCP server %s does not list its tools: %s", name, error)
            if self._asking.get(name, (None, None))[1] is asyncio.current_task():
                self._failed[name] = (runnable, self._clock.elapsed(), error)
                self.statuses.note(runnable, error)
            raise
        self._failed.pop(name, None)
        self.statuses.note(runnable, None)
        return offer

    async def learn(self, runnable: Runnable, said: list[dict[str, Any]]) -> Offer:
        """Take a list of tools from a server; until the owner has seen what it says of them, it counts as the server's words."""
        name = runnable.server.name
        offer = await asyncio.to_thread(offer_of, name, said)
        self._known[name] = known = Known(runnable, offer, self._clock.now().timestamp())
        await asyncio.to_thread(keep, self.catalog, known)
        self._changed()
        return offer

    def unseen(self) -> list[tuple[Runnable, Offer, str]]:
        """The servers whose owner has not seen what they say of their tools, each with its offer and the hash of it; waits."""
        approved, found = self.words.approved(), []
        for runnable in (each.runnable for each in self.catalog.listed()):
            if runnable is None or not need_approval(runnable):
                continue
            known = self._known.get(runnable.server.name)
            if known is None or known.runnable != runnable:
                known = read(self.catalog, runnable)
            offer = known.offer if known else Offer()
            if described(offer) and (digest := digest_of_words(runnable, offer)) not in approved:
                found.append((runnable, offer, digest))
        return found

    def _server_tools(
        self,
        runnable: Runnable,
        offer: Offer,
        choice: Choice,
        allowed_tools: tuple[str, ...] | None,
        approved: frozenset[str],
    ) -> Iterable[ServerTool]:
        server, origin = runnable.server, origin_of_answers(runnable)
        is_seen = not need_approval(runnable) or digest_of_words(runnable, offer) in approved
        for tool in offer.tools:
            made = ServerTool(
                tool.module,
                tool.name,
                tool.description,
                tool.input_schema,
                call=partial(self.call, server.name, tool.name),
                server=server.name,
                origin=origin,
                described=Origin.OWNER if is_seen or tool.name in offer.own else origin,
            )
            if allowed_tools is not None and not server_tool_listed(server.name, tool.name, allowed_tools):
                continue
            if choice == "all" or server.name in choice or server.label in choice or shown_name(made) in choice:
                yield made


@contextlib.contextmanager
def _unavailable_for_any_reason(server: str) -> Iterator[None]:
    """Ask a server: whatever it sends costs its own tools at most, also where nobody had thought of it."""
    try:
        yield
    except ParachuteError:
        raise
    except Exception as error:
        # Without its text, which may hold what the server was sent.
        trace = "".join(traceback.format_tb(error.__traceback__))
        log.error("The MCP server %s was asked in vain: %s\n%s", server, type(error).__name__, trace)
        raise Unavailable(
            f"Asking the MCP server {server} failed.",
            "`parachute logs core` says where.",
            key="asking_failed",
        ) from error


def _retrieve(task: "asyncio.Task[Offer]") -> None:
    # Nobody may be waiting for it any more; what went wrong was logged.
    if not task.cancelled():
        task.exception()


def _chosen(choice: Choice, plugins: Choice, server: Server) -> bool:
    if server.plugin and not allowed(plugins, (server.plugin,)):
        return False
    if isinstance(choice, str):
        return choice == "all"
    return any(entry in (server.name, server.label) or entry.startswith(f"mcp__{server.name}__") for entry in choice)
