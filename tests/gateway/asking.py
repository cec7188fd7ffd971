"""What a gateway would send, and where."""

from typing import cast

from parachute.audit.service import Audit
from parachute.gateway.credentials import CredentialSource
from parachute.gateway.service import Gateway
from parachute.gateway.store import UsageStore
from parachute.settings.home import Home
from parachute.settings.models import Settings


def asked(home: Home, settings: Settings, source: CredentialSource) -> tuple[str, str | None]:
    """The server that is asked, and the secret that it gets."""
    # Neither the ledger nor the audit is needed to find out.
    gateway = Gateway(home, settings, source, cast(UsageStore, None), cast(Audit, None))
    provider = gateway.provider
    credential = gateway.credential(provider)
    return provider.base_url, credential.secret if credential else None
