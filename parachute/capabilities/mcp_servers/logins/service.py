"""Signing in to servers elsewhere, and keeping the logins fresh; the server's process alone does both."""

import asyncio
import hashlib
import logging
import secrets
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.clock import Clock
from parachute.base.errors import InvalidInput, NotFound, ParachuteError, Unavailable
from parachute.capabilities.mcp_servers.catalog import Catalog
from parachute.capabilities.mcp_servers.logins.errors import LoginFailed
from parachute.capabilities.mcp_servers.logins.models import Login, LoginHearing, Pending, Registration, needs_login
from parachute.capabilities.mcp_servers.models import NeedsLogin, Runnable
from parachute.security.audit.service import Audit

# The libraries of MCP and of HTTP are imported in functions: they take their time, which the start of the server has not.
if TYPE_CHECKING:
    from parachute.capabilities.mcp_servers.logins.discovery import Discovered
    from parachute.capabilities.mcp_servers.logins.requests import Requests

log = logging.getLogger(__name__)

_PENDING_SECONDS = 900.0
_MOST_PENDING = 50
_ALL_SECONDS = 25.0
"""Longest time of everything that one step asks."""

_AGAIN_SECONDS = 10.0
"""A refresh that could not be done is not tried again before that."""

_STATE_LIMIT = 200
_CODE_LIMIT = 8 * 1024


class Callback(Struct, frozen=True):
    """The parameters with which an authorization server sends a browser back."""

    state: str
    code: str | None = None
    issuer: str | None = None
    error: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Callback":
        """Read the address at which a browser ended; error: InvalidInput."""
        try:
            fields = dict(parse_qsl(urlsplit(text.strip()).query, max_num_fields=20))
        except ValueError:
            fields = {}
        if not fields.get("state"):
            raise InvalidInput(
                "answer: expected the whole address at which your browser ended, with ?code=… in it.",
                key="address_expected",
            )
        return cls(fields["state"], fields.get("code"), fields.get("iss"), fields.get("error"))


class LoginService:
    """`requests` makes what asks on behalf of a server, `hearing` hears of logins."""

    def __init__(
        self,
        catalog: Catalog,
        requests: "Callable[[Runnable], Requests]",
        audit: Audit,
        hearing: LoginHearing,
        clock: Clock,
    ) -> None:
        self._catalog = catalog
        self._store = catalog.logins
        self._requests = requests
        self._audit = audit
        self._clock = clock
        self._hearing = hearing
        self._pending: dict[str, Pending] = {}
        self._refreshing: dict[str, asyncio.Task[Login | None]] = {}
        self._failed: dict[str, tuple[float, ParachuteError]] = {}
        self._changing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._unwritten: dict[str, Login] = {}

    async def close(self) -> None:
        """Let refreshes end: what they get is good for once."""
        await asyncio.gather(*self._refreshing.values(), return_exceptions=True)

    async def begin(
        self,
        runnable: Runnable,
        redirect: str,
        headers: dict[str, str],
        client: tuple[str, str | None] | None = None,
        *,
        unasked: bool = False,
    ) -> Pending:
        """Begin to sign in, and return where the owner goes on; `client` is an id of the owner's, with its secret.

        What was begun before ends, but for `unasked`: that gives way to what somebody has begun meanwhile.

        Errors: Conflict if there is nothing to sign in to, LoginFailed, Unavailable.
        """
        from mcp.client.auth.utils import union_scopes

        server = runnable.server
        before = await self._login(runnable)
        try:
            async with asyncio.timeout(_ALL_SECONDS):
                found, registration = await self._registered(runnable, redirect, headers, client, before)
        except TimeoutError as error:
            raise Unavailable(
                f"The login server of the MCP server {server.name} does not answer.", key="issuer_silent"
            ) from error
        scope = union_scopes(before.wanted_scope if before else None, found.scope)
        pending = self._asked(runnable, redirect, found, registration, scope)
        if unasked and (other := self._begun(server.name)) is not None:
            return other
        self._forget_old(server.name)
        self._pending[_key(pending.state)] = pending
        self._hearing.changed()
        return pending

    async def _registered(
        self,
        runnable: Runnable,
        redirect: str,
        headers: dict[str, str],
        client: tuple[str, str | None] | None,
        before: Login | None,
    ) -> "tuple[Discovered, Registration]":
        """Find out where to sign in, and who we are there: a client of the owner's, that of before, or a new one."""
        from parachute.capabilities.mcp_servers.logins.discovery import discover, register, secret_method

        requests = self._requests(runnable)
        found = await discover(requests, runnable.server, headers)
        endpoint = str(found.metadata.token_endpoint)
        if client is not None:
            method = secret_method(found) if client[1] else "none"
            return found, Registration(found.issuer, endpoint, client[0], client[1], method, redirect)
        registration = before.registration if before else None
        if (
            registration is None
            or (registration.issuer, registration.redirect) != (found.issuer, redirect)
            or registration.token_endpoint != endpoint
        ):
            registration = await register(requests, found, redirect)
            await self._remember(runnable, registration)
        return found, registration

    def _asked(
        self, runnable: Runnable, redirect: str, found: "Discovered", registration: Registration, scope: str | None
    ) -> Pending:
        """Return the login that waits for the owner's browser."""
        from mcp.client.auth.oauth2 import PKCEParameters

        proof, state = PKCEParameters.generate(), secrets.token_urlsafe(32)
        asked = {
            "response_type": "code",
            "client_id": registration.client_id,
            "redirect_uri": redirect,
            "state": state,
            "code_challenge": proof.code_challenge,
            "code_challenge_method": "S256",
            "resource": found.resource,
            **({"scope": scope} if scope else {}),
            **({"prompt": "consent"} if scope and "offline_access" in scope.split() else {}),
        }
        page = str(found.metadata.authorization_endpoint)
        return Pending(
            runnable,
            f"{page}{'&' if '?' in page else '?'}{urlencode(asked)}",
            state,
            proof.code_verifier,
            found.resource,
            registration,
            bool(found.metadata.authorization_response_iss_parameter_supported),
            scope,
            self._clock.elapsed() + _PENDING_SECONDS,
        )

    async def finish(self, callback: Callback, name: str | None = None) -> str:
        """End signing in with what the browser was sent back with, and return the server's name, which is `name` if given.

        Errors: NotFound if nobody has begun so, LoginFailed, Unavailable.
        """
        from parachute.capabilities.mcp_servers.logins.tokens import exchanged

        self._forget_old()
        # A state is good for once, and only for whoever began.
        pending = self._pending.pop(_key(callback.state[:_STATE_LIMIT]), None)
        if pending is None or name not in (None, pending.runnable.server.name):
            raise NotFound("This sign-in link is unknown or has expired.", "Begin again.", key="no_such_login")
        server, issuer = pending.runnable.server, pending.registration.issuer
        try:
            if callback.issuer != issuer and (callback.issuer is not None or pending.issuer_is_named):
                raise LoginFailed("Another authorization server has answered than the one asked.", key="wrong_issuer")
            if callback.error is not None or not callback.code or len(callback.code) > _CODE_LIMIT:
                raise LoginFailed(
                    f"{issuer} did not let you sign in to the MCP server {server.name}.",
                    "Begin again.",
                    key="sign_in_refused",
                )
            if await asyncio.to_thread(self._catalog.runnable, server.name) != pending.runnable:
                raise LoginFailed(
                    f"The MCP server {server.name} has changed since you began.", "Begin again.", key="server_changed"
                )
            try:
                async with asyncio.timeout(_ALL_SECONDS):
                    login = await exchanged(self._requests(pending.runnable), pending, callback.code, self._now())
            except TimeoutError as error:
                raise Unavailable(f"{issuer} does not answer.", "Begin again.", key="issuer_silent") from error
            async with self._changing[server.name]:
                self._unwritten.pop(server.name, None)
                await asyncio.to_thread(self._store.keep, login)
        except ParachuteError as error:
            self._record("login", server.name, error.message)
            raise
        finally:
            self._hearing.changed()
        self._record("login", server.name, None)
        self._failed.pop(server.name, None)
        self._hearing.done(server.name)
        return server.name

    async def forget(self, name: str) -> bool:
        """Sign out: forget what is kept, and return whether there was anything."""
        async with self._changing[name]:
            self._unwritten.pop(name, None)
            login = await asyncio.to_thread(self._store.forget, name)
        self._forget_old(name)
        if login is not None:
            self._record("logout", name, None)
        self._hearing.done(name)
        self._hearing.changed()
        return login is not None and login.access is not None

    def link(self, name: str) -> str | None:
        """Return where the owner goes on, if somebody has begun to sign in to this server."""
        begun = self._begun(name)
        return begun.link if begun else None

    async def current(self, runnable: Runnable) -> str | None:
        """Return the token to send, refreshed if it ends soon, None without a login; errors: NeedsLogin, Unavailable."""
        login = await self._login(runnable)
        if login is None or login.access is None:
            return None
        if not login.is_due(self._now()):
            return login.access
        try:
            return await self._refreshed(runnable, login)
        except Unavailable:
            if login.ends is not None and login.ends > self._now():
                return login.access
            raise

    async def renewed(self, runnable: Runnable, refused: str | None) -> str | None:
        """Return another token than the one that was refused, None if there is none; errors: NeedsLogin, Unavailable."""
        login = await self._login(runnable)
        if login is None or login.access is None:
            return None
        if login.access != refused:
            return login.access  # somebody else was faster
        return await self._refreshed(runnable, login) if login.refresh else None

    async def wanted(
        self, runnable: Runnable, refused: str | None, scope: str | None = None, *, also: bool = False
    ) -> NeedsLogin:
        """Note that the owner has to sign in, and return the error that says so; `also`: what there is goes on until then.

        `refused` is the token with which the server was asked: a login that has come since stays as it is.
        """
        name = runnable.server.name
        async with self._changing[name]:
            login = await self._login(runnable) or Login(name, runnable.server.url)
            if login.access not in (None, refused):
                return needs_login(name)
            wanting = replace(login, wanted=True, wanted_scope=scope or login.wanted_scope or login.scope)
            if not also:
                wanting = replace(wanting, access=None, refresh=None)
            # Not the scope, which the server names: a page that asks again when it hears of this would never end.
            is_new = (login.wanted, login.access) != (wanting.wanted, wanting.access)
            self._unwritten.pop(name, None)
            try:
                await asyncio.to_thread(self._store.keep, wanting)
            except (ParachuteError, OSError) as error:
                # A page that asks again when it hears of it would never end.
                is_new = False
                log.warning("That the MCP server %s wants a login was not kept: %s", name, error)
        self._hearing.changed()
        if is_new:
            self._hearing.wants(name)
        return needs_login(name)

    async def _remember(self, runnable: Runnable, registration: Registration) -> None:
        """Keep a registration, so that it serves again where signing in does not end; a login that works keeps its own."""
        server = runnable.server
        async with self._changing[server.name]:
            login = await self._login(runnable) or Login(server.name, server.url)
            if login.access is None:
                await asyncio.to_thread(self._store.keep, replace(login, registration=registration))

    async def _login(self, runnable: Runnable) -> Login | None:
        server = runnable.server
        unwritten = self._unwritten.get(server.name)
        if unwritten is not None and unwritten.url == server.url:
            return unwritten
        return await asyncio.to_thread(self._store.of, server.name, server.url)

    async def _refreshed(self, runnable: Runnable, login: Login) -> str:
        """Refresh once for everybody who waits; whoever leaves meanwhile does not end it, since a token is good for once."""
        name = runnable.server.name
        failed = self._failed.get(name)
        if failed is not None and self._clock.elapsed() - failed[0] < _AGAIN_SECONDS:
            raise failed[1]
        task = self._refreshing.get(name)
        if task is None:
            task = asyncio.create_task(self._refresh(runnable, login), name=f"login at {name}")
            self._refreshing[name] = task
            task.add_done_callback(lambda _: self._refreshing.pop(name, None))
            task.add_done_callback(lambda ended: None if ended.cancelled() else ended.exception())
        found = await asyncio.shield(task)
        if found is None or found.access is None:
            raise await self.wanted(runnable, login.access)
        return found.access

    async def _refresh(self, runnable: Runnable, seen: Login) -> Login | None:
        from parachute.capabilities.mcp_servers.logins.tokens import refreshed

        name = runnable.server.name
        async with self._changing[name]:
            login = await self._login(runnable)
            if login is None or login.access != seen.access:
                return login  # signed in anew, or out, meanwhile
            try:
                async with asyncio.timeout(_ALL_SECONDS):
                    found = await refreshed(self._requests(runnable), login, self._now())
            except (ParachuteError, TimeoutError) as error:
                reason = error.message if isinstance(error, ParachuteError) else "It does not answer."
                failure = Unavailable(
                    f"The login at the MCP server {name} cannot be refreshed. {reason}",
                    f"Try again in a minute, or sign in again: `parachute mcp login {name}`.",
                    key="login_not_refreshed",
                )
                self._failed[name] = (self._clock.elapsed(), failure)
                self._record("refresh", name, reason)
                raise failure from error
            self._failed.pop(name, None)
            if found is None:
                self._record("refresh", name, "The login has ended.")
                return None
            try:
                await asyncio.to_thread(self._store.keep, found)
                self._unwritten.pop(name, None)
            except (ParachuteError, OSError) as error:
                log.warning("The new login at the MCP server %s was not kept: %s", name, error)
                self._unwritten[name] = found
            return found

    def _now(self) -> float:
        return self._clock.now().timestamp()

    def _begun(self, name: str) -> Pending | None:
        self._forget_old()
        return next((each for each in self._pending.values() if each.runnable.server.name == name), None)

    def _forget_old(self, name: str | None = None) -> None:
        """Forget logins that were begun too long ago, or at this server."""
        now = self._clock.elapsed()
        kept = {
            key: each
            for key, each in self._pending.items()
            if each.ends > now and (name is None or each.runnable.server.name != name)
        }
        self._pending = dict(list(kept.items())[-_MOST_PENDING:])

    def _record(self, what: str, name: str, error: str | None) -> None:
        self._audit.append(
            event_type=f"mcp_{what}",
            source_type="mcp_server",
            source_id=name,
            target_module="mcps",
            target_endpoint=f"{what} {name}",
            success=error is None,
            error=error,
        )


def _key(state: str) -> str:
    # Found by its hash, so that the time of the search tells nothing of it.
    return hashlib.sha256(state.encode(errors="replace")).hexdigest()
