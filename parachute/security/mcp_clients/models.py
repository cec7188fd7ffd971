"""A client, its grant, and the limits of that: nothing is allowed that is not named."""

from datetime import date, datetime
from typing import Final

from msgspec import Struct

ANY: Final = "*"
"""Stands in a list for all there are."""

NO_WORKSPACE: Final = "-"
"""Stands among workspaces for conversations that are in none."""

ACCESS_PREFIX = "paramcp_"
REFRESH_PREFIX = "pararef_"
"""Beginnings of tokens, which no key has."""


class Limits(Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of a client. `since` and `until` are the first and the last day of entries, None for no such end; after `ends_on` it has nothing."""

    tools: tuple[str, ...]
    folders: tuple[str, ...]
    kinds: tuple[str, ...]
    workspaces: tuple[str, ...]
    since: date | None
    until: date | None
    ends_on: date
    bytes_a_day: int

    @property
    def is_whole(self) -> bool:
        """Return whether nothing of the vault is kept back, so that answers need not be judged."""
        everything = all(ANY in named for named in (self.folders, self.kinds, self.workspaces))
        return everything and self.since is None and self.until is None


class Client(Struct, frozen=True, forbid_unknown_fields=True):
    """A program as it registered itself; its name is what it says. `scope` means nothing here, and is sent back."""

    id: str
    name: str
    redirects: tuple[str, ...]
    seen: datetime
    scope: str | None = None


class Token(Struct, frozen=True, forbid_unknown_fields=True):
    """A token by its SHA-256 in hexadecimal."""

    hash: str
    expires: datetime


class Grant(Struct, frozen=True, forbid_unknown_fields=True):
    """The consent of the owner to a client, at one address of this computer (`resource`). `spent` are refresh tokens that were used."""

    id: str
    client: Client
    resource: str
    given: datetime
    limits: Limits
    access: Token
    refresh: str
    spent: tuple[str, ...] = ()
    used: datetime | None = None

    @property
    def label(self) -> str:
        """The name under which receipts stand: two clients may say that they have the same."""
        return f"{self.client.name} {self.id}"


class State(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file."""

    clients: tuple[Client, ...] = ()
    grants: tuple[Grant, ...] = ()


class Asked(Struct, frozen=True):
    """A request for consent: the address to which the browser goes back, and what the code is bound to."""

    id: str
    client: Client
    resource: str
    issuer: str
    redirect: str
    is_explicit: bool
    challenge: str
    state: str | None
    scopes: tuple[str, ...]
    expires: float


class Issued(Struct, frozen=True):
    """Tokens that were just made, which are stored nowhere."""

    access: str
    refresh: str
    seconds: int


class Code(Struct, frozen=True):
    """The meaning of a code: what was asked, and what the owner agreed to."""

    asked: Asked
    limits: Limits
    expires: float
