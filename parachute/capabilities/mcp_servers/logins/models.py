"""A login at a server elsewhere, and one that has begun."""

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec import Struct

from parachute.capabilities.mcp_servers.models import NeedsLogin, Runnable

_EARLY_SECONDS = 30.0
"""Before it ends, a token is refreshed; one that lives shortly when a quarter of its life is left."""


class LoginHearing(Struct, frozen=True):
    """Hears of logins: `changed` when one begins or ends to be wanted.

    `wants` gets the name of a server that wants one and did not before, once the list of servers says so; `done` that of one
    where somebody has signed in, or out.
    """

    changed: Callable[[], None]
    wants: Callable[[str], None]
    done: Callable[[str], None]


class Registration(Struct, frozen=True, forbid_unknown_fields=True):
    """Registration of this client at one authorization server; `redirect` is the address to which it sends people back."""

    issuer: str
    token_endpoint: str
    client_id: str
    client_secret: str | None
    method: str | None
    redirect: str


class Login(Struct, frozen=True, forbid_unknown_fields=True):
    """The login at one server, valid for its very address `url`; `wanted`: the owner is to sign in.

    `audience` is what its tokens are for, `wanted_scope` what the next ones have to allow.
    """

    server: str
    url: str
    registration: Registration | None = None
    scope: str | None = None
    access: str | None = None
    refresh: str | None = None
    ends: float | None = None
    lives: float | None = None
    audience: str | None = None
    wanted: bool = False
    wanted_scope: str | None = None

    def is_due(self, now: float) -> bool:
        """True if the token has ended, or ends soon (`now` in epoch seconds)."""
        if self.ends is None:
            return False
        return self.ends - now <= min(_EARLY_SECONDS, (self.lives or 0.0) / 4)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Everything that nobody else may read."""
        secret = self.registration.client_secret if self.registration else None
        return tuple(text for text in (self.access, self.refresh, secret) if text)


@dataclass(frozen=True, slots=True)
class Pending:
    """A login that has begun: the owner opens `link`, and is sent back with `state`."""

    runnable: Runnable
    link: str
    state: str
    verifier: str
    resource: str
    registration: Registration
    issuer_is_named: bool
    """True if the authorization server promised to name itself when it sends people back."""
    scope: str | None
    ends: float = field(compare=False)


def callback_address(port: int, base: str | None = None) -> str:
    """The address to which a browser comes back: at `base`, where this computer was called, or else on this machine itself."""
    return f"{(base or f'http://127.0.0.1:{port}').rstrip('/')}/api/mcps/oauth/callback"


def needs_login(name: str) -> NeedsLogin:
    """The error of a server that wants its owner to sign in."""
    return NeedsLogin(
        f"The MCP server {name} wants you to sign in.", f"`parachute mcp login {name}` begins, and so does the inbox."
    )
