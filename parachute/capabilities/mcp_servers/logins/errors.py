"""Errors of a login."""

from parachute.base.errors import ParachuteError


class LoginFailed(ParachuteError):
    """Signing in did not end with a login, or the server names what nothing is sent to; its key says why."""

    status = 502
