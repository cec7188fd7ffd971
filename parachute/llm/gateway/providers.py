"""Choice of the provider, and its reason."""

from urllib.parse import urlsplit

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.models import Provider
from parachute.supervisor.units import model_socket

ANTHROPIC = "https://api.anthropic.com"
OFFLINE_MODEL = "offline"


def choose(settings: Settings, credentials: CredentialSource, home: Home) -> Provider:
    """The provider in force; error: ParachuteError if the settings contradict each other.

    A lost network or an expired credential changes nothing here: falling back silently would answer with another mind.
    """
    base_url = settings.base_url or credentials.base_url
    if base_url:
        check_address(base_url)
    if settings.provider == "offline":
        return _offline(home, "`provider: offline` is set")
    if settings.provider == "compatible":
        if not base_url:
            raise ParachuteError(
                "provider: `compatible` needs the address of its server.",
                "`parachute config set base_url http://127.0.0.1:11434` names it.",
                key="no_base_url",
            )
        return _compatible(settings, base_url, "`provider: compatible` is set")
    if settings.provider == "anthropic":
        return _anthropic(base_url, "`provider: anthropic` is set")
    if base_url and not is_anthropic(base_url):
        # Somebody else's server: the login is Anthropic's and stays out of it.
        if credential := credentials.find(base_url):
            return Provider(
                "anthropic", base_url, chosen_because=f"there is a credential ({credential.source}) for {base_url}"
            )
        return _compatible(settings, base_url, f"{base_url} is set, without a credential")
    if credential := credentials.find():
        return _anthropic(base_url, f"there is a credential ({credential.source})")
    return _offline(home, "no credentials are configured")


def is_anthropic(base_url: str) -> bool:
    """True if an address is Anthropic's own."""
    parts = urlsplit(base_url)
    return parts.scheme == "https" and (parts.hostname or "").endswith((".anthropic.com", ".claude.com"))


def check_address(base_url: str) -> None:
    """Refuse what is no address of a server; error: ParachuteError."""
    try:
        parts = urlsplit(base_url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ParachuteError(
            f"base_url: {base_url[:200]!r} is not an address.",
            "It looks like http://127.0.0.1:11434, in config.yaml or as ANTHROPIC_BASE_URL when the server starts.",
            key="invalid_base_url",
        )


def _anthropic(base_url: str | None, because: str) -> Provider:
    return Provider("anthropic", base_url or ANTHROPIC, chosen_because=because, takes_login=True)


def _compatible(settings: Settings, base_url: str, because: str) -> Provider:
    return Provider("compatible", base_url, model=settings.model, chosen_because=because)


def _offline(home: Home, because: str) -> Provider:
    return Provider(
        "offline", "http://model.local", socket=str(model_socket(home)), model=OFFLINE_MODEL, chosen_because=because
    )
