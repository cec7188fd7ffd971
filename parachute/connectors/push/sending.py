"""Sending one notice to one push service, through the egress decision."""

import asyncio
import ssl
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from parachute.base.errors import ParachuteError
from parachute.connectors.push.identity import Identity
from parachute.connectors.push.models import Subscription, decoded
from parachute.sandbox.egress.certificates import Certificates
from parachute.sandbox.egress.outlet import Outlet

_TIMEOUT = {"connect": 10.0, "read": 10.0, "write": 10.0, "pool": 10.0}
_LONGEST_PAUSE = 3600
_GONE = (404, 410)
_LATER = (408, 425, 429)
_REFUSED = 403
_CONTACT = "Apple's wants to know how to reach you: parachute config set push.contact mailto:NAME@EXAMPLE.ORG"
"""An address that is only known at home, such as one on .local, it does not take."""


class Outcome(Struct, frozen=True):
    """`sent`; `gone`: nobody listens there any more; `later`: perhaps after `seconds`; `refused`: not this notice. `said` is why."""

    kind: Literal["sent", "gone", "later", "refused"]
    said: str | None = None
    seconds: int = 0


class Sender:
    """Encrypts, signs and sends; `certificates` are those by which services are known."""

    def __init__(self, identity: Identity, certificates: Certificates) -> None:
        self._identity = identity
        self._certificates = certificates

    async def send(
        self, to: Subscription, message: bytes, topic: str, seconds: int, outlet: Outlet, contact: str
    ) -> Outcome:
        """Send a message that the service keeps for so long, in place of an earlier one of its topic.

        `contact` is what the owner wants to be reached at; where that is empty, the address of this computer stands there.
        """
        import httpcore2

        from parachute.sandbox.egress.client import pool

        host = str(to.target).removesuffix(":443")
        try:
            authorization, content = await asyncio.to_thread(self._prepared, to, message, contact or to.address)
        except ParachuteError as error:
            return Outcome("later", error.message)
        headers: dict[bytes | str, bytes | str] = {
            "authorization": authorization,
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": str(seconds),
            "topic": topic,
            "urgency": "high",
        }
        try:
            async with (
                pool(outlet, await self._certificates.context()) as connections,
                connections.stream(
                    "POST", to.endpoint, headers=headers, content=content, extensions={"timeout": _TIMEOUT}
                ) as answer,
            ):
                outcome = _outcome(host, answer.status, dict(answer.headers).get(b"retry-after", b""))
                if answer.status == _REFUSED and not contact:
                    return replace(outcome, said=f"{outcome.said} {_CONTACT}")
                return outcome
        except ParachuteError as error:
            return Outcome("later", error.message)
        except (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError, ssl.SSLError, OSError):
            return Outcome("later", f"{host} does not answer.")

    def _prepared(self, to: Subscription, message: bytes, contact: str) -> tuple[str, bytes]:
        from parachute.connectors.push.encryption import encrypted

        origin = f"https://{urlsplit(to.endpoint).netloc.lower()}"
        return self._identity.authorization(origin, contact), encrypted(message, decoded(to.key), decoded(to.secret))


def _outcome(host: str, status: int, pause: bytes) -> Outcome:
    if 200 <= status < 300:
        return Outcome("sent")
    if status in _GONE:
        return Outcome("gone", f"{host} does not know this device any more.")
    if status in _LATER or status >= 500:
        seconds = int(pause) if pause.isdigit() and len(pause) < 8 else 0
        return Outcome("later", f"{host} wants to be asked later ({status}).", min(seconds, _LONGEST_PAUSE))
    return Outcome("refused", f"{host} refuses notices of this computer ({status}).")
