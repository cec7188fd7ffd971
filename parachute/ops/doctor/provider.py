"""The provider of the model, and its credential."""

from parachute.base.errors import ParachuteError
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.models import Credential, Provider
from parachute.llm.gateway.providers import choose
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import NotApplicable, settings_of
from parachute.ops.doctor.systemd import is_installed
from parachute.supervisor.credentials import VARIABLES


def source_of(computer: Computer) -> CredentialSource:
    """Return the source of credentials of a computer that is started from here, or by services, which have no variables."""
    named = () if is_installed(computer) else VARIABLES
    variables = {name: computer.environment[name] for name in named if computer.environment.get(name)}
    return CredentialSource(computer.home, variables, computer.user_home / ".claude")


def provider_of(computer: Computer) -> tuple[Provider, Credential | None]:
    """Return what a computer that is started from here would use; errors: NotApplicable, ParachuteError."""
    settings = settings_of(computer, "the model")
    if not (computer.home.root / "run").is_dir():
        raise NotApplicable("The computer was never started here.")
    source = source_of(computer)
    provider = choose(settings, source, computer.home)
    if provider.name != "anthropic":
        return provider, None
    return provider, source.find(provider.other_server)


def provider_name(computer: Computer) -> str | None:
    """The provider in force, as core says where it runs; None where it is unknown."""
    if computer.provider is not None:
        name: str | None = computer.provider["provider"]
        return name
    try:
        return provider_of(computer)[0].name
    except (ParachuteError, NotApplicable):
        return None
