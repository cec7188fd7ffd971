"""Offers as they are remembered, so that a chat can begin without starting a server; every function waits for the disk."""

import logging

import msgspec
from msgspec import Struct

from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, read_regular
from parachute.capabilities.mcp_servers.catalog import Catalog
from parachute.capabilities.mcp_servers.models import Runnable
from parachute.capabilities.mcp_servers.offers import Offer

log = logging.getLogger(__name__)

_REMOTE_AGE, _LOCAL_AGE = 300.0, 3600.0
"""Seconds after which a server is asked again: one elsewhere may offer other tools at any time, one here is another program then."""

_LIMIT = 4 * 1024 * 1024


class Known(Struct, frozen=True):
    """The offer of a server, as it was approved, at a moment."""

    runnable: Runnable
    offer: Offer
    at: float

    def is_new(self, now: float) -> bool:
        """True if the server was asked lately."""
        return 0 <= now - self.at < (_REMOTE_AGE if self.runnable.server.is_remote else _LOCAL_AGE)


class _Kept(Struct, frozen=True):
    digest: str
    at: float
    offer: Offer


def read(catalog: Catalog, runnable: Runnable) -> Known | None:
    """Return what this very configuration offered the last time."""
    try:
        data = read_regular(catalog.folders(runnable.server.name).tools, _LIMIT)
        kept = msgspec.json.decode(data, type=_Kept)
    except (OSError, ValueError, RecursionError, ParachuteError):
        return None
    return Known(runnable, kept.offer, kept.at) if kept.digest == runnable.approval.digest else None


def keep(catalog: Catalog, known: Known) -> None:
    """Keep an offer."""
    name = known.runnable.server.name
    document = _Kept(known.runnable.approval.digest, known.at, known.offer)
    try:
        atomic_write(catalog.folders(name).tools, msgspec.json.encode(document))
    except OSError as error:
        log.warning("What the MCP server %s offers was not kept: %s", name, error)
