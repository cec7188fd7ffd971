"""Why a server was not reached, in words."""

import socket


def reason_of(error: BaseException) -> str:
    """What went wrong with a request, for a person: the cause that the system gave, not the library's name for it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror):
            return "its name is not known on this network"
        if isinstance(cause, ConnectionRefusedError):
            return "nothing listens at this address"
        if isinstance(cause, TimeoutError):
            return "it did not answer in time"
        cause = cause.__cause__ or cause.__context__
    return str(error).removesuffix(".") or type(error).__name__
