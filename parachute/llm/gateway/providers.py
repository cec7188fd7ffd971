"""Choice of the provider, and its reason: the first one, and those with a name."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from msgspec.structs import replace

from parachute.base.addresses import parse_address
from parachute.base.errors import InvalidInput, NotAllowed, ParachuteError
from parachute.config.settings.groups.providers import MAIN
from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.models import Provider
from parachute.supervisor.units import model_socket
from parachute.web.tls.names import is_private

ANTHROPIC = "https://api.anthropic.com"
OFFLINE_MODEL = "offline"

_NAMES_AT_HOME = (".local", ".home.arpa", ".localhost")


def resolve(
    settings: Settings, credentials: CredentialSource, home: Home, wanted: str | None = None, *, stays: bool = False
) -> Provider:
    """Return the provider of a model such as `sonnet` or `home/qwen3`, of the default one without; with `stays` one at home.

    Errors: InvalidInput for a provider that there is not, NotAllowed where none is at home, and those of `choose`.
    """
    own = _own_model(settings)
    default = settings.model if own is None else None
    called, model = _split(settings, wanted or default)
    found = _named(settings, home, called, model) if called != MAIN else None
    if found is None:
        found = choose(settings, credentials, home)
        if not wanted and own and "/" in own and is_anthropic(found.base_url):
            raise _unknown(own)
        found = replace(found, asked=model or own)
    if not stays or found.at_home:
        return found
    if not wanted:
        for other in every(settings, credentials, home):
            if other.at_home:
                return other
    raise NotAllowed(
        f"This conversation stays at home, and {wanted or found.called} is not a model there.",
        "Choose a model at home: `parachute models list` shows where each one is.",
        key="only_at_home",
    )


def every(settings: Settings, credentials: CredentialSource, home: Home) -> Iterator[Provider]:
    """Yield the first provider and those with a name, each with its own model; one that is set wrongly is left out."""
    try:
        main = choose(settings, credentials, home)
        own = _own_model(settings)
        yield replace(main, asked=None if "/" in (own or "") else own)
    except ParachuteError:
        pass  # its own requests say so
    for called in settings.providers:
        yield _named(settings, home, called, None)


def is_at_home(base_url: str) -> bool:
    """Return True for an address of this machine, or of one beside it; a name tells only by its end."""
    host = (urlsplit(base_url).hostname or "").rstrip(".")
    if parse_address(host) is not None:
        return is_address_at_home(host)
    return host == "localhost" or host.endswith(_NAMES_AT_HOME)


def is_address_at_home(text: str) -> bool:
    """Return True for an IP address that no machine of the internet has, nor one of the provider's own network."""
    address = parse_address(text)
    return address is not None and address.is_private and is_private(address)


def _split(settings: Settings, wanted: str | None) -> tuple[str, str | None]:
    """Return the name of the provider that a model belongs to, and its name there."""
    if not wanted:
        return MAIN, None
    called, slash, model = wanted.partition("/")
    if slash and (called == MAIN or called in settings.providers):
        return called, model or None
    if slash and wanted != settings.model:
        # Its provider may have been one at home, and what is said there goes nowhere else.
        raise _unknown(wanted)
    return MAIN, wanted


def _own_model(settings: Settings) -> str | None:
    """Return the model that the settings name of the first provider, None where they name that of another one."""
    called, _, model = (settings.model or "").partition("/")
    if called in settings.providers:
        return None
    return model if called == MAIN and model else settings.model


def _unknown(wanted: str) -> InvalidInput:
    return InvalidInput(
        f"There is no provider {wanted.partition('/')[0][:60]!r}, to which the model {wanted[:100]} would belong.",
        f"`parachute models list` shows every model; {MAIN}/{wanted[:100]} is one of the first provider.",
        key="unknown_provider",
    )


def _named(settings: Settings, home: Home, called: str, model: str | None) -> Provider:
    said = settings.providers[called]
    because = f"`providers.{called}` is set"
    allowed = tuple(said.allowed_models)
    if said.kind == "offline":
        return replace(_offline(home, because), called=called)
    if said.kind == "anthropic":
        found = _anthropic(None, because)
        return replace(found, called=called, asked=model or said.model, allowed_models=allowed)
    assert said.base_url
    at_home = is_at_home(said.base_url) if said.at_home is None else said.at_home
    chosen = model or said.model
    return Provider(
        "compatible",
        said.base_url,
        model=chosen,
        chosen_because=because,
        called=called,
        at_home=at_home,
        allowed_models=allowed,
        asked=chosen,
    )


def choose(settings: Settings, credentials: CredentialSource, home: Home) -> Provider:
    """The first provider; error: ParachuteError if the settings contradict each other.

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
    at_home = is_at_home(base_url)
    return Provider("compatible", base_url, model=_own_model(settings), chosen_because=because, at_home=at_home)


def _offline(home: Home, because: str) -> Provider:
    return Provider(
        "offline",
        "http://model.local",
        socket=str(model_socket(home)),
        model=OFFLINE_MODEL,
        chosen_because=because,
        at_home=True,
    )
