"""Which provider is asked, and why."""

from parachute.errors import ParachuteError
from parachute.gateway.credentials import CredentialSource
from parachute.gateway.models import Provider
from parachute.settings.home import Home
from parachute.settings.models import Settings
from parachute.supervisor.units import model_socket

ANTHROPIC = "https://api.anthropic.com"
OFFLINE_MODEL = "offline"


def choose(settings: Settings, credentials: CredentialSource, home: Home) -> Provider:
    """The provider in force; error: ParachuteError if the settings contradict each other.

    A lost network or an expired credential changes nothing here: falling back silently would answer with another mind.
    """
    base_url = settings.base_url or credentials.base_url
    if settings.provider == "offline":
        return _offline(home, "`provider: offline` is set")
    if settings.provider == "compatible":
        if not base_url:
            raise ParachuteError(
                "provider: `compatible` needs the address of its server.",
                "`parachute config set base_url http://127.0.0.1:11434` names it.",
            )
        return Provider("compatible", base_url, model=settings.model, chosen_because="`provider: compatible` is set")
    if settings.provider == "anthropic":
        return Provider("anthropic", base_url or ANTHROPIC, chosen_because="`provider: anthropic` is set")
    if credential := credentials.find():
        return Provider(
            "anthropic", base_url or ANTHROPIC, chosen_because=f"there is a credential ({credential.source})"
        )
    if base_url:
        return Provider(
            "compatible", base_url, model=settings.model, chosen_because=f"{base_url} is set, without a credential"
        )
    return _offline(home, "no credentials are configured")


def _offline(home: Home, because: str) -> Provider:
    return Provider(
        "offline", "http://model.local", socket=str(model_socket(home)), model=OFFLINE_MODEL, chosen_because=because
    )
