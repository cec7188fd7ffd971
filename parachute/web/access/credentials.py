"""The credential of a caller: a key in the three forms that the apps use, or the cookie of a browser that is signed in."""

from parachute.base.errors import ParachuteError
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.cli_token import PREFIX as CLI_PREFIX
from parachute.security.keys.cli_token import CliToken
from parachute.security.keys.models import FULL_ACCESS, Caller
from parachute.security.keys.service import Keys


class WrongCredential(ParachuteError):
    """A key was shown that is not valid here."""

    status = 401
    key = "wrong_key"


def presented_credential(single_headers: dict[bytes, bytes]) -> str | None:
    """The key that `X-API-Key` or `Authorization: Bearer` carries, None without either; WrongCredential if unusable."""
    api_key, authorization = single_headers.get(b"x-api-key"), single_headers.get(b"authorization")
    if api_key is None and authorization is None:
        return None
    if api_key is not None and authorization is not None:
        raise WrongCredential("Two keys were sent.", "Send either X-API-Key or Authorization, not both.")
    if api_key is not None:
        presented = api_key
    else:
        scheme, _, presented = (authorization or b"").partition(b" ")
        if scheme.lower() != b"bearer":
            raise WrongCredential("This kind of Authorization is not used here.", "Send Authorization: Bearer KEY.")
    key = presented.decode("latin-1").strip()
    if not key:
        raise WrongCredential("The key that was sent is empty.", "Send a key, or leave the header out.")
    return key


class Recognition:
    """Authentication of a caller by key, token or cookie."""

    def __init__(self, keys: Keys, cli_token: CliToken, browsers: BrowserSessions) -> None:
        self.keys = keys
        self.cli_token = cli_token
        self.browsers = browsers

    def caller(self, presented: str, is_browser: bool) -> Caller:
        """The caller that the key belongs to; errors: WrongCredential, KeysUnreadable."""
        if presented.startswith(CLI_PREFIX):
            if self.cli_token.verify(presented):
                return Caller("cli", "command line", FULL_ACCESS, is_browser)
        elif key := self.keys.authenticate(presented):
            return Caller("key", key.label, key.scopes, is_browser, key.id)
        raise WrongCredential("This key is not valid here.", "Make a new one with: parachute keys create NAME")

    def browser(self, secret: str) -> Caller:
        """The browser whose cookie this is; errors: WrongCredential, KeysUnreadable."""
        found = self.browsers.authenticate(secret)
        if found is None:
            raise WrongCredential(
                "This browser is no longer signed in.",
                "Sign in again: `parachute pair` shows a code.",
                key="signed_out",
            )
        is_confirmed = self.browsers.confirmed_for(found.id) > 0
        return Caller("browser", found.label, found.scopes, True, found.id, is_confirmed)
