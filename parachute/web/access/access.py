"""The gate before every route: host, then origin, then who calls, then what it may do."""

from collections.abc import Callable, Iterable

from msgspec.structs import replace
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parachute.base.errors import NotAllowed, ParachuteError
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.cli_token import CliToken
from parachute.security.keys.document import KeysUnreadable
from parachute.security.keys.models import FULL_ACCESS, READ_AND_WRITE, Caller, check_confirmed
from parachute.security.keys.peers import Peers
from parachute.security.keys.service import Keys
from parachute.security.keys.stored_secrets import StoredSecrets
from parachute.security.mcp_clients.models import ACCESS_PREFIX
from parachute.security.mcp_clients.service import McpClients
from parachute.web.access.cookies import presented_session
from parachute.web.access.credentials import Recognition, WrongCredential, presented_credential
from parachute.web.access.exposure import check_exposure
from parachute.web.access.headers import CallHeaders, read_headers
from parachute.web.access.hosts import HostAllowList
from parachute.web.access.origins import OriginNotAllowed, OriginPolicy, check_own_page
from parachute.web.access.proxies import Client, ProxyPolicy
from parachute.web.access.routing import Need, needed
from parachute.web.http.refusals import refuse

_ANONYMOUS = Caller("anonymous", "anonymous")
_ANONYMOUS_BROWSER = Caller("anonymous", "anonymous", is_browser=True)
_LOCAL = Caller("local", "this computer", READ_AND_WRITE)
_LOCAL_BROWSER = Caller("local", "this computer", READ_AND_WRITE, is_browser=True)
_LOCAL_OWNER = Caller("local", "this computer", FULL_ACCESS)
_NO_WEBSOCKETS = NotAllowed("Websockets are not used here.", key="no_websockets")


class KeyNeeded(ParachuteError):
    """The caller showed no key and is not let in without one."""

    status = 401
    key = "key_needed"


class AccessMiddleware:
    """Let a request through with its `Caller` in `scope["state"]["caller"]`, or refuse it.

    The address it came from goes to `scope["state"]["client_address"]`, `peers` to `scope["state"]["peers"]`. `bind` is the
    address that the server listens on, `local_admin` whether programs of our own user may do everything without a key,
    `awaits_set_up` that the first key is still to come, `peers` says whose programs call from this computer, `refused` hears
    from where a wrong key came, `browsers` are those that are signed in; the server must leave the peer as it is (uvicorn: `proxy_headers=False`). Errors: ParachuteError,
    InvalidInput, KeysUnreadable for settings that would not hold.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        keys: Keys,
        cli_token: CliToken,
        browsers: BrowserSessions,
        mcp_clients: McpClients,
        auth_mode: str = "remote",
        bind: str = "127.0.0.1",
        hostnames: Iterable[str] = (),
        origins: Iterable[str] = (),
        trusted_proxies: Iterable[str] = (),
        local_admin: bool = True,
        refused: Callable[[str], None] = lambda address: None,
        awaits_set_up: bool = False,
        peers: Peers | None = None,
    ) -> None:
        self.app = app
        self._auth_mode = check_exposure(auth_mode, bind, keys, browsers, awaits_set_up=awaits_set_up)
        self._keys = keys
        self._browsers = browsers
        self._mcp_clients = mcp_clients
        self._recognition = Recognition(keys, cli_token, browsers)
        self._hosts = HostAllowList(hostnames, bind)
        self._origins = OriginPolicy(origins)
        self._proxies = ProxyPolicy(trusted_proxies)
        self._local_admin = local_admin
        self._peers = peers or Peers()
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on or answer it."""
        if scope["type"] == "http":
            try:
                caller, client = await self._admit(scope)
            except ParachuteError as refusal:
                await refuse(scope, send, refusal, _challenge(scope, refusal))
                return
            known = {"caller": caller, "client_address": client.address, "peers": self._peers}
            scope["state"] = {**scope.get("state", {}), **known}
            if caller.kind == "mcp_client" and caller.key is not None:
                send = _while_valid(self._mcp_clients.holds, caller.key, send)
            elif caller.key is not None:
                held: StoredSecrets = self._browsers if caller.kind == "browser" else self._keys
                held.note_address(caller.key, client.address)
                send = _while_valid(held.holds, caller.key, send)
        elif scope["type"] != "lifespan":
            await refuse(scope, send, _NO_WEBSOCKETS)
            return
        await self.app(scope, receive, send)

    async def _admit(self, scope: Scope) -> tuple[Caller, Client]:
        headers = read_headers(scope)
        server = scope.get("server")
        host = headers.single.get(b"host")
        is_certain = await self._hosts.admit(host, server[0] if server else None)
        need = needed(scope["method"], scope["path"])
        if not need.takes_nothing:
            self._origins.check(
                scope["method"],
                scope.get("scheme", "http"),
                host or b"",
                headers.single.get(b"origin"),
                headers.single.get(b"sec-fetch-site"),
                is_open=need.audience == "everyone",
            )
        peer = scope.get("client")
        client = self._proxies.client(peer[0] if peer else None, headers.proxy_marks)
        if not is_certain:
            # Then this may be a page from elsewhere in a browser of this computer, to which it looks like one of ours.
            client = replace(client, is_local=False)
        if client.is_local and self._auth_mode != "disabled":
            # Other users of this computer, and whoever comes through a forwarder of theirs, are strangers.
            is_own = await self._peers.is_own(peer, server)
            client = replace(client, is_local=is_own is not False, is_other_user=is_own is False)
        scheme = self._proxies.scheme(client, scope.get("scheme", "http"), headers.proxy_marks)
        origin = f"{scheme}://{(host or b'').decode('latin-1').lower()}"
        scope["state"] = {**scope.get("state", {}), "origin": origin}
        caller = self._who(scope, headers, client, need)
        if caller.kind == "mcp_client" and need.audience == "everyone":
            caller = _ANONYMOUS  # it was given `/mcp`, and is a stranger everywhere else
        # Whoever shows a key has what that may, no more because of where it comes from.
        is_open = _is_open(need, client) and (need.audience == "everyone" or caller.key is None)
        if is_open or _is_enough(need, caller):
            if need.is_confirmed:
                check_confirmed(caller)
            return caller, client
        if need.audience == "programs" and caller.kind in ("local", "anonymous"):
            # An assistant on this computer has what it was given, too, and asks for that when it is told so.
            raise _key_needed(client, need)
        if await self._is_owner(scope, caller, need):
            return _LOCAL_OWNER, client
        raise _not_allowed(caller, need)

    def _who(self, scope: Scope, headers: CallHeaders, client: Client, need: Need) -> Caller:
        try:
            presented = presented_credential(headers.single)
            if presented is not None and presented.startswith(ACCESS_PREFIX):
                return self._mcp_client(presented, scope["state"]["origin"], headers)
            if presented is not None:
                return self._recognition.caller(presented, headers.is_browser)
            if browser := self._browser(scope, headers, need):
                return browser
            # Nobody is let in without a key either while it is unknown which keys there are.
            self._keys.check()
        except KeysUnreadable as error:
            if not _is_open(need, client):
                raise error if client.is_local else _without_path(error) from error
        except WrongCredential:
            self._refused(client.address)
            # An app whose key was revoked must still find out that the server is there.
            if need.audience != "everyone":
                raise
        else:
            if client.is_local and self._auth_mode != "always":
                return _LOCAL_BROWSER if headers.is_browser else _LOCAL
            if client.is_vouched and self._auth_mode == "disabled":
                # Whoever switched keys off and named this proxy relies on the proxy to know its callers.
                return Caller("anonymous", client.address, READ_AND_WRITE, headers.is_browser)
            if not _is_open(need, client):
                raise _key_needed(client, need)
        return _ANONYMOUS_BROWSER if headers.is_browser else _ANONYMOUS

    def _mcp_client(self, presented: str, origin: str, headers: CallHeaders) -> Caller:
        """The client whose token this is, at the address for which it was given; errors: WrongCredential, ClientsUnreadable."""
        grant = self._mcp_clients.authenticate(presented)
        if grant is None or grant.resource != resource_of(origin):
            raise WrongCredential("This token is not valid here.", "Sign in again.", key="wrong_token")
        return Caller("mcp_client", grant.label, (), headers.is_browser, grant.id)

    def _browser(self, scope: Scope, headers: CallHeaders, need: Need) -> Caller | None:
        """The browser whose cookie came, None without one; errors: OriginNotAllowed, WrongCredential, KeysUnreadable."""
        scheme = scope.get("scheme", "http")
        presented = presented_session(headers.cookies, scheme)
        if presented is None:
            return None
        try:
            check_own_page(scope["method"], scheme, headers)
        except OriginNotAllowed:
            if need.audience != "everyone":
                raise
            return None  # what everybody may have needs no cookie
        return self._recognition.browser(presented.secret)

    async def _is_owner(self, scope: Scope, caller: Caller, need: Need) -> bool:
        if not self._local_admin or caller is not _LOCAL or need.audience == "credential":
            return False
        # A page in a browser is recognised by its headers, another user of this machine by the kernel's tables.
        return bool(await self._peers.is_own(scope.get("client"), scope.get("server")))


def _while_valid(holds: Callable[[str], bool], key: str, send: Send) -> Send:
    """End a stream when its key is revoked, its browser signed out, or its client ended; an answer of known length ends anyway."""
    is_stream, is_over = True, False

    async def send_while_valid(message: Message) -> None:
        nonlocal is_stream, is_over
        if message["type"] == "http.response.start":
            is_stream = all(name != b"content-length" for name, _ in message.get("headers", ()))
        elif is_over:
            return
        elif is_stream and message.get("more_body") and not holds(key):
            is_over = True
            # The server tells the application then that its reader has left.
            message = {"type": "http.response.body", "body": b""}
        await send(message)

    return send_while_valid


def resource_of(origin: str) -> str:
    """The name of this computer's MCP server at one of its addresses (RFC 8707), for which tokens are."""
    return f"{origin}/mcp"


def _challenge(scope: Scope, refusal: ParachuteError) -> str:
    """The header by which a refused program learns how to come in: at `/mcp` where the metadata are (RFC 9728, section 5.1)."""
    origin = scope.get("state", {}).get("origin", "")
    if refusal.status != 401 or scope["path"] != "/mcp" or not origin:
        return "Bearer"
    error = 'error="invalid_token", ' if refusal.key != KeyNeeded.key else ""
    return f'Bearer {error}resource_metadata="{origin}/.well-known/oauth-protected-resource/mcp"'


def _is_open(need: Need, client: Client) -> bool:
    return need.audience == "everyone" or (need.audience == "loopback" and client.is_local)


def _is_enough(need: Need, caller: Caller) -> bool:
    has_shown_one = caller.kind in ("key", "browser", "cli")
    if need.audience in ("holders", "programs") and has_shown_one:
        return True
    if caller.kind == "mcp_client":
        return need.audience == "programs"
    return caller.may(need.module, need.capability) and (
        need.audience not in ("credential", "programs") or has_shown_one
    )


def _key_needed(client: Client, need: Need) -> KeyNeeded:
    if need.audience == "programs":
        return KeyNeeded(
            "A program signs in here by your browser, or shows a key, also on this computer.",
            "In Claude Code: /mcp. One that cannot sign in is given a key: parachute keys create NAME, sent as Authorization: Bearer KEY.",
        )
    if client.is_forwarded:
        return KeyNeeded(
            "The request came through a proxy, so it needs a key.",
            "Make one with: parachute keys create NAME, and send it as Authorization: Bearer KEY.",
        )
    if client.is_other_user:
        return KeyNeeded(
            "Only programs of the user whom this computer belongs to need no key here, and this one is another user's.",
            "Ask that user for a key (parachute keys create NAME), and send it as Authorization: Bearer KEY.",
        )
    return KeyNeeded(
        "A key is needed to call this computer.",
        "Make one there with: parachute keys create NAME, and send it as Authorization: Bearer KEY.",
    )


def _without_path(error: KeysUnreadable) -> KeysUnreadable:
    # Where the owner's files lie is not for strangers.
    return KeysUnreadable("The keys of this computer cannot be read, so every request is refused.", "Its log says why.")


def _not_allowed(caller: Caller, need: Need) -> NotAllowed:
    where = "everything" if need.module == "*" else need.module[:80]
    scopes = " ".join(str(scope) for scope in caller.scopes)
    if caller.kind == "browser":
        return NotAllowed(
            f"This browser may not do this: it needs {need.capability} in {where}, and has {scopes}.",
            "Sign in with a code that may: parachute pair",
            key="browser_lacks_scope",
        )
    if caller.kind == "key":
        return NotAllowed(
            f"This key may not do this: it needs {need.capability} in {where}, and has {scopes}.",
            f"Make one that may: parachute keys create NAME --scope {need.module[:80]}:{need.capability}",
            key="key_lacks_scope",
        )
    return NotAllowed(
        f"This needs {need.capability} in {where}, which is not given without a key to "
        + ("a web page." if caller.is_browser else "this caller."),
        "Use the command line, or make a key with: parachute keys create NAME",
        key="page_lacks_key",
    )
