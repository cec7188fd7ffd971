"""The few request headers that decide who calls, read in one pass."""

from msgspec import Struct, field
from starlette.types import Scope

from parachute.base.errors import InvalidInput
from parachute.web.access.proxies import PROXY_MARK_PREFIX, PROXY_MARKS

CONSOLE = b"x-parachute-console"
"""No page of another origin can send this header: the browser would ask us first, and we say nothing to that."""

_SINGLE = frozenset((b"host", b"origin", b"x-api-key", b"authorization", b"sec-fetch-site", b"referer", CONSOLE))
_BROWSER_MARKS = frozenset((b"origin", b"referer", b"cookie", b"sec-fetch-site"))
_BROWSER_PREFIXES = (b"sec-fetch-", b"sec-ch-")


class CallHeaders(Struct):
    """`single` holds headers that may come once, `proxy_marks` all that a proxy may have added, `cookies` all with cookies."""

    single: dict[bytes, bytes] = field(default_factory=dict)
    proxy_marks: list[tuple[bytes, bytes]] = field(default_factory=list)
    cookies: list[bytes] = field(default_factory=list)
    is_browser: bool = False


def read_headers(scope: Scope) -> CallHeaders:
    """Collect the headers of a request; one of those that decide sent twice is InvalidInput."""
    found = CallHeaders()
    single = found.single
    for name, value in scope["headers"]:
        if name in _SINGLE:
            if name in single:
                raise InvalidInput(f"The header {name.decode()} came twice.", status=400, key="repeated_header")
            single[name] = value
        elif name == b"cookie":
            found.cookies.append(value)
        if name in _BROWSER_MARKS or name.startswith(_BROWSER_PREFIXES):
            found.is_browser = True
        elif name in PROXY_MARKS or name.startswith(PROXY_MARK_PREFIX):
            found.proxy_marks.append((name, value))
        elif name == b"user-agent" and value.startswith(b"Mozilla/"):
            # Pages without TLS under another name than localhost get none of the Sec- headers.
            found.is_browser = True
    return found
