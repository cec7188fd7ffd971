"""Which model answers, and with which credential."""

from parachute.doctor.computer import Computer
from parachute.doctor.models import NotApplicable
from parachute.doctor.systemd import is_installed
from parachute.errors import ParachuteError
from parachute.gateway.credentials import CredentialSource
from parachute.gateway.models import Credential, Provider
from parachute.gateway.providers import choose
from parachute.supervisor.credentials import VARIABLES


def source_of(computer: Computer) -> CredentialSource:
    """Where credentials are looked for by a computer that is started from here, or by services, which have no variables."""
    named = () if is_installed(computer) else VARIABLES
    variables = {name: computer.environment[name] for name in named if computer.environment.get(name)}
    return CredentialSource(computer.home, variables, computer.user_home / ".claude")


def provider_of(computer: Computer) -> tuple[Provider, Credential | None]:
    """What a computer that is started from here would use; errors: NotApplicable, ParachuteError."""
    if computer.settings is None:
        raise NotApplicable("Which model is used cannot be told, because config.yaml cannot be understood.")
    if not (computer.home.root / "run").is_dir():
        raise NotApplicable("The computer was never started here.")
    source = source_of(computer)
    provider = choose(computer.settings, source, computer.home)
    if provider.name != "anthropic":
        return provider, None
    return provider, source.find(provider.other_server)


def provider_name(computer: Computer) -> str | None:
    """The provider in force, as core says where it runs; None where it cannot be told."""
    if computer.provider is not None:
        name: str | None = computer.provider["provider"]
        return name
    try:
        return provider_of(computer)[0].name
    except (ParachuteError, NotApplicable):
        return None
