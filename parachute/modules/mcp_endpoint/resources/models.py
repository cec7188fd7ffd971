"""Sources of resources: what each lists, reads, and shows of a record."""

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct

from parachute.modules.manifest.models import RESOURCE_NAMES
from parachute.modules.mcp_endpoint.policy import Policy
from parachute.modules.mcp_endpoint.shapes import Shape

MARKDOWN = "text/markdown"


class Offer(Struct, frozen=True):
    """A source as a grant names it, beside tools; a key needs `read` in its module. `word` begins its addresses, `variable` is what follows there."""

    name: str
    module: str
    word: str
    variable: str
    title: str
    description: str


OFFERS = (
    Offer(
        RESOURCE_NAMES[0],
        "daily",
        "entries",
        "id",
        "Journal entry",
        description="Read journal entries, as resources that you attach",
    ),
    Offer(
        RESOURCE_NAMES[1],
        "brain",
        "entities",
        "id",
        "Note",
        description="Read notes about people, projects and the like, as resources that you attach",
    ),
    Offer(
        RESOURCE_NAMES[2],
        "vault",
        "files",
        "+path",
        "File",
        description="Read files of the vault, as resources that you attach",
    ),
)
ENTRIES, ENTITIES, FILES = OFFERS


class Page(Struct, frozen=True):
    """Records from one place on, and the place of the next one, None at the end."""

    records: list[Mapping[str, Any]]
    next: int | None


class Shown(Struct, frozen=True):
    """A record in a list: the end of its address, its name, and what is said of it."""

    key: str
    name: str
    description: str = ""
    type: str = MARKDOWN
    size: int | None = None


class Source(Protocol):
    """One kind of resources. Records that it gives are not judged yet."""

    offer: Offer
    shape: Shape

    async def page(self, policy: Policy, start: int) -> Page:
        """Records from a place on, at least those that a policy lets leave; errors: ParachuteError."""

    async def find(self, key: str) -> Mapping[str, Any] | None:
        """One record by the end of its address; errors: ParachuteError."""

    def shown(self, record: Mapping[str, Any]) -> Shown:
        """A record in a list."""

    async def content(self, record: Mapping[str, Any]) -> str | bytes:
        """The text of a record, or the bytes of a file that is none; errors: ParachuteError."""
