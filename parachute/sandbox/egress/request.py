"""Reading what a client asks the proxy for, strictly: what two programs could read differently is refused."""

import re

import h11
from msgspec import Struct

from parachute.sandbox.egress import hosts
from parachute.sandbox.egress.models import Refused, Target

_ABSOLUTE = re.compile(r"http://([^/?#@\\]+)(/[^#]*|\?[^#]*)?", re.IGNORECASE)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
_USAGE = "Use it as HTTP_PROXY and HTTPS_PROXY."

Headers = list[tuple[bytes, bytes]]

_OF_ONE_CONNECTION = frozenset(
    (
        *(b"connection", b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"proxy-authorization"),
        *(b"te", b"trailer", b"upgrade"),
    )
)
"""RFC 9110, section 7.6.1, without Transfer-Encoding, which h11 reads and writes itself."""


class ProxyRequest(Struct, frozen=True):
    """A client's request; `path` is None for CONNECT."""

    method: str
    target: Target
    path: str | None

    @property
    def endpoint(self) -> str:
        """The request as it may be recorded: without its path."""
        return f"{self.method} {self.target}"


def read(request: h11.Request) -> ProxyRequest:
    """Parse a request; error: Refused with status 400."""
    method, target = request.method.decode("ascii"), request.target.decode("ascii")
    fields = {name for name, _ in request.headers}
    if {b"content-length", b"transfer-encoding"} <= fields:
        raise _wrong("The request has both Content-Length and Transfer-Encoding.")
    if method == "CONNECT":
        if {b"content-length", b"transfer-encoding"} & fields:
            raise _wrong("CONNECT has no body.")
        return ProxyRequest(method, _target(target, None), None)
    match = _ABSOLUTE.fullmatch(target)
    if match is None:
        raise _wrong(_explain(target))
    path = match[2] or "/"
    asked = ProxyRequest(method, _target(match[1], 80), path if path.startswith("/") else f"/{path}")
    for name, value in request.headers:
        if name == b"host" and _target(value.decode("latin-1"), 80) != asked.target:
            raise _wrong(f"The Host header names another host than the address of the request ({asked.target}).")
    return asked


def forwarded(headers: Headers) -> Headers:
    """The headers, spelled as they came, without those that are about one connection only."""
    lower = [(name.lower(), value) for name, value in headers]
    named = {part.strip().lower() for name, value in lower if name == b"connection" for part in value.split(b",")}
    # A sender may not name these away: the length of the body decides where the next message begins.
    named -= {b"content-length", b"transfer-encoding", b"host"}
    dropped = named | _OF_ONE_CONNECTION
    return [header for header, (name, _) in zip(headers, lower, strict=True) if name not in dropped]


def rewritten(asked: ProxyRequest, request: h11.Request) -> h11.Request:
    """A plain request as its server gets it."""
    host = str(asked.target).removesuffix(":80").encode()
    headers = [(name, value) for name, value in forwarded(request.headers.raw_items()) if name.lower() != b"host"]
    headers = [(b"Host", host), *headers, (b"Connection", b"close")]
    return h11.Request(method=request.method, target=asked.path or "/", headers=headers)


def rewritten_answer(response: h11.Response) -> h11.Response:
    """An answer as the client gets it."""
    headers = [*forwarded(response.headers.raw_items()), (b"Connection", b"close")]
    return h11.Response(status_code=response.status_code, headers=headers, reason=response.reason)


def _target(text: str, port: int | None) -> Target:
    try:
        host, port = hosts.split(text, port)
    except ValueError as error:
        raise _wrong(f"The host of the request cannot be read: {error}.") from error
    if port is None:
        raise _wrong("CONNECT needs a host and a port, such as example.org:443.")
    return Target(host, port)


def _explain(target: str) -> str:
    if target.startswith("/"):
        return f"This is a proxy, not a web server. {_USAGE}"
    if (match := _SCHEME.match(target)) and match[1].lower() != "http":
        return f"{match[1].lower()}:// goes through CONNECT only. {_USAGE}"
    return "The address of the request cannot be read: expected http://host/path, without a user name and a fragment."


def _wrong(message: str) -> Refused:
    return Refused(message, status=400)
