"""Headers that a server elsewhere is sent with every request."""

import re
from collections.abc import Iterable
from typing import Any

from parachute.capabilities.mcp_servers.models import SECRET

MOST = 20
VALUE_LIMIT = 8 * 1024

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_KEPT = frozenset(
    [
        "accept",
        "accept-encoding",
        "accept-language",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "expect",
        "host",
        "keep-alive",
        "last-event-id",
        "mcp-protocol-version",
        "mcp-session-id",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
)


def is_value(text: str) -> bool:
    """True for what a header can hold: printable ASCII, and nothing that begins another one."""
    return len(text) <= VALUE_LIMIT and text.isascii() and text.isprintable()


def shown(value: str) -> str:
    """A value for a person: a reference to a secret, and of everything else only that it is there."""
    return value if SECRET.search(value) else "…"


def problems_of(headers: Any) -> Iterable[str]:
    """Everything that is wrong with `headers` as they stand in the file."""
    if not isinstance(headers, dict) or len(headers) > MOST:
        yield f"headers: expected an object of up to {MOST} texts."
        return
    if len({name.lower() for name in headers}) < len(headers):
        yield "headers: a name stands there twice."
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            yield f"headers.{name[:40]}: that is not the name of a header."
        elif name.lower() in _KEPT:
            yield f"headers.{name[:40]}: the connection sets this one itself."
        elif not isinstance(value, str) or not is_value(value):
            yield f"headers.{name[:40]}: expected text of letters, digits and signs of ASCII."
        elif "${" in SECRET.sub("", value):
            yield f"headers.{name[:40]}: only references of the form ${{secret:NAME}} are allowed."
