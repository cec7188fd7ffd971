"""Errors of a login."""

from parachute.base.errors import ParachuteError


class LoginRefused(ParachuteError):
    """Statement of a server about signing in that it may not make: nothing was sent there."""

    status = 502
    key = "login_refused"


class LoginFailed(ParachuteError):
    """Signing in did not end with a login."""

    status = 502
    key = "login_failed"
