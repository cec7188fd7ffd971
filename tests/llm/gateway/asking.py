"""Request and address of a gateway."""

from parachute.config.settings.home import Home
from parachute.config.settings.models import Settings
from parachute.llm.gateway.credentials import CredentialSource
from parachute.llm.gateway.login import Login
from parachute.llm.gateway.upstream import Upstream
from parachute.security.kill_switch.switch import KillSwitch


def asked(home: Home, settings: Settings, source: CredentialSource) -> tuple[str, str | None]:
    """The server that is asked, and the secret that it gets."""
    login = Login(source.login_file, lambda: None)
    upstream = Upstream(home, settings, source, KillSwitch(home.root), login)
    provider = upstream.provider
    credential = upstream.credential(provider)
    return provider.base_url, credential.secret if credential else None
