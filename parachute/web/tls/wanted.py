"""Decision whether a computer answers https."""

from parachute.base.addresses import is_loopback
from parachute.config.settings.models import Settings


def is_wanted(settings: Settings) -> bool:
    """As the settings say; else where others may connect: on this machine itself browsers take http://localhost for safe."""
    if settings.tls.enabled is not None:
        return settings.tls.enabled
    return settings.tls.certificate is not None or not is_loopback(settings.host)
