"""What can go wrong here; each key is an error type of the Messages API."""

from parachute.errors import ParachuteError, Unavailable

INSTALL_COMMAND = "pip install 'parachute-computer[offline]'"


class MalformedRequest(ParachuteError):
    """The request cannot be read: `message` names the field and what is allowed."""

    status = 400
    key = "invalid_request_error"


class UnknownPath(ParachuteError):
    """Nothing answers at this path with this method."""

    status = 404
    key = "not_found_error"


class BodyTooLarge(ParachuteError):
    """The body is longer than the Messages API allows."""

    status = 413
    key = "request_too_large"


class Overloaded(Unavailable):
    """Too many requests wait already; the same request may work in a moment."""

    key = "overloaded_error"


class ModelUnavailable(Unavailable):
    """There is no model to answer with, and asking again does not change that."""

    key = "api_error"


class Stopping(Unavailable):
    """This process is being stopped; the next one answers."""

    key = "api_error"
