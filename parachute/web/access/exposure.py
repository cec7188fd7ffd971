"""The check of the address to listen on: never open to a network without a key or a browser that signed in."""

from typing import TypeGuard, get_args

from parachute.base.addresses import is_loopback
from parachute.base.errors import ParachuteError
from parachute.config.settings.models import AuthMode
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.service import Keys


def is_auth_mode(word: str) -> TypeGuard[AuthMode]:
    """Return whether the word is one of remote, always and disabled."""
    return word in get_args(AuthMode)


def check_exposure(
    auth_mode: str, bind: str, keys: Keys, browsers: BrowserSessions, *, awaits_set_up: bool = False
) -> AuthMode:
    """The mode, if the server may start with it on this address; errors: ParachuteError, KeysUnreadable.

    A computer that `awaits_set_up` may start without one: it shows its first key on its screen, and until then nobody is
    let in from elsewhere, since there is no key that they could know. Neither is anybody where the keys were lost, or where
    browsers have signed in whose time is over. On loopback a file of keys that cannot be read is no
    reason not to start: every request is refused with the reason.
    """
    if not is_auth_mode(auth_mode):
        raise ParachuteError(
            f"auth_mode: {auth_mode[:40]!r} is unknown; allowed are {', '.join(get_args(AuthMode))}.",
            "Set it with: parachute config set auth_mode remote",
            key="unknown_auth_mode",
            status=500,
        )
    if is_loopback(bind):
        return auth_mode
    if auth_mode == "disabled":
        raise ParachuteError(
            f"auth_mode: disabled is allowed on a loopback address only, but the server would listen on {bind or 'all'}.",
            "Run: parachute config set auth_mode remote, or: parachute config set host 127.0.0.1",
            key="auth_disabled",
            status=500,
        )
    if not keys.list() and not awaits_set_up and not keys.are_gone and not browsers.has_any:
        raise ParachuteError(
            f"The server would listen on {bind or 'all addresses'}, where others can reach it, but there is no key yet.",
            "Make one first: parachute keys create NAME",
            key="key_needed",
            status=500,
        )
    return auth_mode
