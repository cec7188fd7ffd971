"""Clients and their grants: agreed to, shown by a token, renewed and ended."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, NotFound
from parachute.security.mcp_clients.codes import Codes
from parachute.security.mcp_clients.models import Client, Code, Grant, Issued, Limits, State, Token
from parachute.security.mcp_clients.registration import Registrations, identifier
from parachute.security.mcp_clients.store import ClientStore, ClientsUnreadable
from parachute.security.mcp_clients.tokens import hashed, is_same, made

log = logging.getLogger(__name__)

MOST = 50
"""Grants at once."""

_MOST_CLIENTS = 100
_KEPT = timedelta(days=30)
"""For so long a client without a grant may ask for another one."""

_SPENT = 100
"""Refresh tokens that are known to be used: of four days of a client that never rests."""

_SELDOM = timedelta(hours=1)


class McpClients:
    """The clients of one installation; a file that cannot be read lets none in, and is never replaced.

    Every method but those that wait is for the event loop's thread alone. What ends a right holds at once, also when the disk fails.
    """

    def __init__(self, root: Path, clock: Clock = SYSTEM) -> None:
        self.clock = clock
        self.codes = Codes(clock)
        self.registrations = Registrations(clock)
        self._store = ClientStore(root)
        self._writing = asyncio.Lock()
        self._seen: dict[str, datetime] = {}
        self._ended: set[str] = set()
        self.listeners: list[Callable[[], None]] = []
        """Hear that a grant may be another one now, or over."""
        self._problem: ClientsUnreadable | None = None
        self._state = State()
        try:
            self._state = self._store.load()
        except ClientsUnreadable as error:
            self._problem = error

    def check(self) -> None:
        """Error: ClientsUnreadable."""
        if self._problem is not None:
            raise ClientsUnreadable(self._problem.message, self._problem.hint)

    def list(self) -> tuple[Grant, ...]:
        """Every grant that holds, the newest first; error: ClientsUnreadable."""
        self.check()
        held = (self._shown(each) for each in reversed(self._state.grants) if not self._is_over(each))
        return tuple(held)

    def get(self, name: str) -> Grant:
        """A grant by its id; errors: NotFound, ClientsUnreadable."""
        for each in self.list():
            if each.id == name:
                return each
        raise NotFound(
            f"There is no MCP client {name[:40]!r}.", "See them with: parachute mcp clients list", key="no_such_client"
        )

    def find(self, name: str) -> Grant | None:
        """A grant that holds, as it is now."""
        return next((each for each in self._state.grants if each.id == name and not self._is_over(each)), None)

    def holds(self, name: str) -> bool:
        """Return whether a grant holds now."""
        return self.find(name) is not None

    def client(self, name: str) -> Client | None:
        """A client that has registered itself."""
        known = (*self._state.clients, *(each.client for each in self._state.grants))
        return next((each for each in known if each.id == name), None) or self.registrations.find(name)

    def authenticate(self, presented: str) -> Grant | None:
        """The grant whose access token this is, None if there is none; error: ClientsUnreadable."""
        self.check()
        wanted, found = hashed(presented), None
        # No early exit: the time taken must not tell which was nearest.
        for each in self._state.grants:
            if is_same(each.access.hash, wanted):
                found = each
        if found is None or self._is_over(found) or found.access.expires <= self.clock.now():
            return None
        return found

    async def note_use(self, name: str) -> None:
        """Note that a client asks; written once an hour."""
        grant = self.find(name)
        if grant is None:
            return
        now = self._seen[name] = self.clock.now()
        if grant.used is None or abs(now - grant.used) >= _SELDOM:
            try:
                await self._change(lambda each: replace(each, used=now) if each.id == name else each)
            except OSError as error:
                log.warning("The last use of an MCP client could not be written: %s", error)

    async def redeem(self, code: Code) -> Issued:
        """Make the grant of a code; errors: Conflict, ClientsUnreadable, OSError."""
        issued, now = made(), self.clock.now()
        # The address to which the browser went stands first: it is what the owner sees of a client.
        asked = code.asked
        redirects = tuple(dict.fromkeys((asked.redirect, *asked.client.redirects)))
        client = replace(asked.client, redirects=redirects, seen=now)
        access, refresh = self._access(issued), hashed(issued.refresh)
        grant = Grant(identifier(), client, asked.resource, now, code.limits, access, refresh)

        def with_it(state: State) -> State:
            kept = tuple(each for each in state.grants if not self._is_over(each))
            if len(kept) >= MOST:
                raise Conflict(f"{MOST} MCP clients are connected already.", "End one.", key="too_many_clients")
            others = tuple(each for each in state.clients if each.id != client.id and now - each.seen < _KEPT)
            return State((*others[-(_MOST_CLIENTS - 1) :], client), (*kept, grant))

        await self._keep(with_it)
        if not self.codes.made(code, grant.id):
            await self.end(grant.id)
            raise Conflict("This code was shown twice.", "Sign in again.", key="code_shown_twice")
        return issued

    def of_refresh(self, presented: str, client: str) -> Grant | None:
        """The grant of a client that is renewed by this token, None if it is not."""
        wanted = hashed(presented)
        return next((each for each in self._of(client) if is_same(each.refresh, wanted)), None)

    def of_spent(self, presented: str, client: str) -> Grant | None:
        """The grant of a client that was renewed by this token before: somebody has a copy of it."""
        wanted = hashed(presented)
        return next((each for each in self._of(client) if any(is_same(old, wanted) for old in each.spent)), None)

    async def renew(self, grant: Grant, presented: str) -> Issued | None:
        """Make new tokens in place of both; None if another request was quicker. Errors: OSError, ClientsUnreadable."""
        issued, used = made(), hashed(presented)
        is_done = False

        def renewed(each: Grant) -> Grant:
            nonlocal is_done
            if each.id != grant.id or not is_same(each.refresh, used):
                return each
            is_done = True
            spent = (*each.spent, used)[-_SPENT:]
            return replace(each, access=self._access(issued), refresh=hashed(issued.refresh), spent=spent)

        await self._change(renewed)
        return issued if is_done else None

    async def narrow(self, name: str, limits: Limits) -> Grant:
        """Give a grant other limits; errors: NotFound, ClientsUnreadable, OSError."""
        self.get(name)
        await self._change(lambda each: replace(each, limits=limits) if each.id == name else each)
        return self.get(name)

    async def end(self, name: str) -> None:
        """End a grant at once, with its tokens and what it is asking; errors: ClientsUnreadable, OSError."""
        # Before the disk is asked: it may fail, or take its time.
        self._ended.add(name)
        for heard in self.listeners:
            heard()
        await self._keep(lambda state: state)
        self._ended.discard(name)

    async def _change(self, change: Callable[[Grant], Grant]) -> None:
        await self._keep(lambda state: replace(state, grants=tuple(map(change, state.grants))))

    async def _keep(self, change: Callable[[State], State]) -> None:
        """Write what a change makes of everything, and let it hold then."""
        self.check()
        async with self._writing:
            changed = change(self._state)
            state = replace(changed, grants=tuple(each for each in changed.grants if each.id not in self._ended))
            await asyncio.to_thread(self._store.save, state)
            self._state = state
        for heard in self.listeners:
            heard()
        for name in self._seen.keys() - {each.id for each in state.grants}:
            self._seen.pop(name, None)

    def _of(self, client: str) -> Iterator[Grant]:
        return (each for each in self._state.grants if each.client.id == client and not self._is_over(each))

    def _access(self, issued: Issued) -> Token:
        return Token(hashed(issued.access), self.clock.now() + timedelta(seconds=issued.seconds))

    def _is_over(self, grant: Grant) -> bool:
        return grant.id in self._ended or self.clock.today() > grant.limits.ends_on

    def _shown(self, grant: Grant) -> Grant:
        return replace(grant, used=self._seen.get(grant.id, grant.used))
