"""One page of the web, from the host that the owner named alone. Imports the HTTP client: import it in functions."""

import asyncio
from urllib.parse import urljoin, urlsplit

import httpcore2
import httpx2
from msgspec import Struct

from parachute import __version__
from parachute.base.errors import InvalidInput, ParachuteError, Unavailable
from parachute.sandbox.egress.certificates import Certificates
from parachute.sandbox.egress.client import pool
from parachute.sandbox.egress.hosts import is_at_home, split
from parachute.sandbox.egress.models import Target
from parachute.sandbox.egress.service import Egress

LARGEST = 8 << 20
"""Bytes of a page."""

_SECONDS = 30.0
_REDIRECTS = 5
_LONGEST = 2_000
_PORTS = {"https": 443, "http": 80}
_REDIRECTING = frozenset((301, 302, 303, 307, 308))
_KINDS = ("text/html", "application/xhtml+xml", "text/plain")


class Page(Struct, frozen=True):
    """A page as it came; `leads_to` is an address of another host in its place."""

    url: str
    content: bytes = b""
    charset: str = ""
    is_text: bool = False
    leads_to: str | None = None


def target_of(url: str) -> Target:
    """Read the address of a page; error: InvalidInput for what is no page of the internet."""
    if len(url) > _LONGEST or not url.isprintable() or " " in url:
        raise InvalidInput("The address is too long, or has spaces in it.", key="no_page_address")
    try:
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or "@" in parts.netloc:
            raise ValueError(parts.scheme)
        host, port = split(parts.netloc, _PORTS[parts.scheme])
    except ValueError as error:
        raise InvalidInput(
            "This is no address of a page.", "One begins with https://.", key="no_page_address"
        ) from error
    assert port is not None
    if is_at_home(host) or ("." not in host and ":" not in host):
        raise InvalidInput(
            "Only pages of the internet are read, and none of this machine or your network.", key="no_page_address"
        )
    return Target(host, port)


async def fetch(url: str, egress: Egress, certificates: Certificates) -> Page:
    """Load a page, over redirects of its own host; errors: InvalidInput, Refused, Unavailable."""
    first = target_of(url)
    try:
        async with asyncio.timeout(_SECONDS):
            for _ in range(_REDIRECTS):
                target = target_of(url)
                # What was encrypted is not asked for once more in the open.
                if target.host != first.host or target.port not in (first.port, 443):
                    return Page(url, leads_to=url)
                found = await _ask(url, target, egress, certificates)
                if found.leads_to is None:
                    return found
                url = found.leads_to
    except TimeoutError as error:
        raise Unavailable(f"{first.host} takes too long.", "Try it again later.", key="page_silent") from error
    raise Unavailable(f"{first.host} leads on and on.", key="page_leads_on")


async def _ask(url: str, target: Target, egress: Egress, certificates: Certificates) -> Page:
    asked = httpx2.URL(url)
    headers = httpx2.Headers(
        {
            "host": asked.netloc.decode("ascii"),
            "accept": "text/html,application/xhtml+xml,text/plain;q=0.5",
            "accept-encoding": "identity",
            "user-agent": f"parachute/{__version__}",
        }
    )
    place = httpcore2.URL(scheme=asked.raw_scheme, host=asked.raw_host, port=asked.port, target=asked.raw_path)
    outlet = egress.outlet(target.host, None, [_entry(target)], kind="page")
    try:
        async with (
            pool(outlet, await certificates.context()) as connections,
            connections.stream("GET", place, headers=headers.raw) as response,
        ):
            return await _read(url, target, response)
    except ParachuteError:
        raise
    except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
        raise Unavailable(f"{target.host} does not answer.", "Try it again later.", key="page_silent") from error
    finally:
        outlet.close()


async def _read(url: str, target: Target, response: httpcore2.Response) -> Page:
    headers = httpx2.Headers(response.headers)
    if response.status in _REDIRECTING and (place := headers.get("location")):
        try:
            return Page(url, leads_to=urljoin(url, place)[: _LONGEST + 1])
        except ValueError as error:
            raise Unavailable(f"{target.host} leads to no address.", key="no_page", status=502) from error
    if response.status != 200:
        raise Unavailable(f"{target.host} answers {response.status}, and no page.", key="no_page", status=502)
    kind, _, rest = headers.get("content-type", "text/html").lower().partition(";")
    if kind.strip() not in _KINDS:
        raise InvalidInput(
            f"url: it leads to a file of the kind {kind.strip()[:60]}, and to no page.",
            "Load it on your device, and upload it in the files.",
            key="not_a_page",
        )
    if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise Unavailable(f"{target.host} answers compressed, which it was not asked for.", key="page_compressed")
    data = bytearray()
    async for chunk in response.aiter_stream():
        data += chunk
        if len(data) > LARGEST:
            raise InvalidInput(f"url: the page has more than {LARGEST:,} bytes.", key="page_too_large", status=413)
    charset = rest.partition("charset=")[2].strip(" \"'")[:40]
    return Page(url, bytes(data), charset, kind.strip() == "text/plain")


def _entry(target: Target) -> str:
    host = f"[{target.host}]" if ":" in target.host else target.host
    return f"{host}:{target.port}"
