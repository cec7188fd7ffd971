"""What can be wrong with a login."""

from parachute.base.errors import ParachuteError


class LoginRefused(ParachuteError):
    """What a server says about signing in is not what it may say: nothing was sent there."""

    status = 502
    key = "login_refused"


class LoginFailed(ParachuteError):
    """Signing in did not end with a login."""

    status = 502
    key = "login_failed"
