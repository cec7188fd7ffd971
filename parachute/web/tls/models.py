"""Certificates, as far as anybody needs to know them."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from msgspec import Struct

LIFE = timedelta(days=90)
"""Of a certificate; one that was stolen is soon worth nothing, and phones take none of more than 825 days."""

RENEWED_BEFORE = timedelta(days=30)
"""Its end: a computer that was switched off for some weeks still has one that is valid."""


class Certificate(Struct, frozen=True):
    """A certificate: its names and addresses, the SHA-256 of it in groups, and from when until when it is valid."""

    names: tuple[str, ...]
    fingerprint: str
    starts_at: str
    expires_at: str

    def is_due(self, now: datetime) -> bool:
        """True if another one should take its place, also because the clock was wrong when it was made."""
        expires, starts = datetime.fromisoformat(self.expires_at), datetime.fromisoformat(self.starts_at)
        return now > expires - RENEWED_BEFORE or now < starts


class Authority(Struct, frozen=True):
    """The authority of this home: its name, what it may sign (`permitted`), and its certificate as PEM."""

    name: str
    fingerprint: str
    expires_at: str
    permitted: tuple[str, ...]
    pem: str


class Issued(Struct, frozen=True):
    """Issued certificates: `left_out` are names that the authority may not sign, since it is older than they are.

    `own` is the certificate that the settings name, `own_problem` why it cannot be used, `own_files` tells that it is another.
    """

    authority: Authority
    certificate: Certificate
    left_out: tuple[str, ...] = ()
    own: Certificate | None = None
    own_problem: str | None = None
    own_files: tuple[int, ...] = ()

    def is_due(self, now: datetime, names: Iterable[str], own_files: tuple[int, ...]) -> bool:
        """True if something is to be made anew: because of its age, for new names, or as the owner's files are others."""
        has = {*self.certificate.names, *self.left_out}
        return self.certificate.is_due(now) or not has.issuperset(names) or own_files != self.own_files
