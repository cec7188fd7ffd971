"""The certificates on the computer's port: made when they are needed, and changed while connections are open."""

import asyncio
import logging
import re
import ssl
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, ParachuteError
from parachute.web.tls.making import make
from parachute.web.tls.models import RENEWED_BEFORE, Issued
from parachute.web.tls.names import own_names
from parachute.web.tls.store import Store, context, identity

log = logging.getLogger(__name__)

_RETRY = timedelta(hours=1)


class Tls:
    """The certificate of this home's authority, and beside it one of the owner's own (`certificate`, `key`).

    `context` is what connections get, None while there is none; those that are open keep the one that they began with.
    """

    def __init__(
        self,
        home: Path,
        *,
        enabled: bool,
        hostnames: Sequence[str] = (),
        certificate: Path | None = None,
        key: Path | None = None,
        clock: Clock = SYSTEM,
    ) -> None:
        self.enabled = enabled
        self.context: ssl.SSLContext | None = None
        self.issued: Issued | None = None
        self._problem: str | None = None
        self._own_problem: str | None = None
        self._home = home
        self._store = Store(home)
        self._hostnames = list(hostnames)
        self._own = (certificate, key) if certificate is not None else None
        self._clock = clock
        self._not_before: datetime | None = None
        self._one = asyncio.Lock()

    @property
    def problems(self) -> list[str]:
        """Return the reasons why a certificate is not used, or a name is missing from it."""
        found = [self._problem, self._own_problem]
        if self.issued is not None and self.issued.left_out:
            found.append(
                f"The authority may not sign {', '.join(self.issued.left_out)}: it was made for other names. "
                "`parachute tls renew --authority` makes another, which every device must then trust."
            )
        return [each for each in found if each]

    @property
    def renews_at(self) -> datetime | None:
        """Return the time of the next renewal, if nothing changes before."""
        if self.issued is None:
            return None
        return datetime.fromisoformat(self.issued.certificate.expires_at) - RENEWED_BEFORE

    async def start(self) -> None:
        """Use what was made before, so that a start of the server refuses nobody."""
        if self.enabled:
            await asyncio.to_thread(self._load)

    async def close(self) -> None:
        """Wait for a certificate that is being made, and make none any more."""
        self.enabled = False
        async with self._one:
            pass

    async def is_due(self) -> bool:
        """True if another certificate should be made now: its age, names, addresses or the owner's files say so.

        Avahi's name is not asked for: that needs a library of which the server keeps nothing otherwise.
        """
        now = self._clock.now()
        if not self.enabled or (self._not_before is not None and now < self._not_before):
            return False
        issued = self.issued
        return issued is None or self.context is None or await asyncio.to_thread(self._differs, issued, now)

    async def renew(self, *, force: bool = True, anew: bool = False) -> None:
        """Make a certificate, or see that none is due unless `force`, with another authority if `anew`; errors: Conflict where TLS is off, ParachuteError."""
        async with self._one:
            if not self.enabled:
                raise Conflict(
                    "TLS is off.", "Switch it on: parachute config set tls.enabled true, and restart.", key="tls_off"
                )
            self._not_before = self._clock.now() + _RETRY
            own = self._own or ()
            try:
                await asyncio.to_thread(
                    make, self._home, self._clock.now(), self._hostnames, own, force=force, anew=anew
                )
            except (OSError, ParachuteError) as error:
                self._problem = f"No certificate could be made: {error}"
                raise Conflict(
                    self._problem, "More is in the log: parachute logs core.", key="no_certificate"
                ) from error
            await asyncio.to_thread(self._load)
            if self._problem is not None:
                raise Conflict(self._problem, key="no_certificate")
            self._not_before = None

    def _differs(self, issued: Issued, now: datetime) -> bool:
        return issued.is_due(now, own_names(self._hostnames, None), identity(self._own or ()))

    def _load(self) -> None:
        """Use what was made; a certificate of the owner's that cannot be used leaves the other one in its place."""
        issued = self._store.read()
        if issued is None:
            return
        try:
            made = context(self._store.certificate)
        except ParachuteError as error:
            self._problem = str(error)
            return
        self._own_problem = issued.own_problem
        if self._own is not None and issued.own is not None:
            try:
                made.sni_callback = _chooser(context(*self._own), issued.own.names)
            except ParachuteError as error:
                self._own_problem = str(error)
        if self.issued is None or issued.certificate != self.issued.certificate:
            log.info("The certificate for https is valid until %s.", issued.certificate.expires_at)
        self.issued, self.context, self._problem = issued, made, None


def _chooser(own: ssl.SSLContext, names: Sequence[str]) -> Callable[[ssl.SSLObject, str | None, ssl.SSLContext], None]:
    """Give connections to one of the names the owner's certificate."""
    # A star stands for one part of a name (RFC 6125, 6.4.3).
    fitting = re.compile("|".join(re.escape(name.lower()).replace(r"\*", "[^.]+") for name in names) or r"(?!)")

    def choose(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        if name is not None and fitting.fullmatch(name.lower()):
            connection.context = own

    return choose
