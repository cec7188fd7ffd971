"""HTTP to a module host's socket; a host that sleeps is started by the connection."""

import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from parachute.base import local_http
from parachute.base.errors import InvalidInput, Unavailable
from parachute.base.local_http import Headers, Response

_ANSWER_LIMIT = 16 * 1024 * 1024
_LATER = 5.0
_STATUSES = range(200, 600)


class HostDown(Unavailable):
    """The module's process does not answer, or broke off."""

    status = 502
    key = "module_down"


class HostClient:
    """Talks to one host."""

    def __init__(self, name: str, socket: Path, log: Path) -> None:
        self._name = name
        self._socket = socket
        self._log = log
        self._answering: set[Response] = set()

    def end_answers(self) -> None:
        """Break off answers that have begun: a stream without an end would hold up the end of the host."""
        for response in self._answering:
            response.abort()

    @contextlib.asynccontextmanager
    async def request(
        self,
        method: str,
        target: str,
        headers: Headers = (),
        body: bytes | AsyncIterator[bytes] = b"",
        seconds: float = 60,
    ) -> AsyncIterator[Response]:
        """Send a request and give its answer; `seconds` bounds the wait for its beginning, and
        for each part of the body before that. Errors: HostDown, InvalidInput for what HTTP cannot say."""
        fields = [(b"host", b"module"), *headers]
        asking = local_http.request(
            self._socket, method, target, fields, body, connect_seconds=seconds, seconds=seconds
        )
        try:
            async with asking as response:
                if response.status not in _STATUSES:
                    raise self._down("gave no answer")
                self._answering.add(response)
                try:
                    yield response
                finally:
                    self._answering.discard(response)
        except local_http.CannotBeSent as error:
            # Our own server lets some characters pass that HTTP does not have.
            raise InvalidInput(f"The request cannot be passed on: {error}.", status=400, key="not_passed_on") from error
        except local_http.Unreachable as error:
            raise self._down("does not answer") from error
        except TimeoutError as error:
            raise self._down(f"did not answer within {seconds:.0f} seconds") from error
        except ConnectionError as error:
            raise self._down("broke off its answer") from error
        except local_http.TooLong as error:
            raise self._down("gave too long an answer") from error
        except local_http.NotJson as error:
            raise self._down("gave an answer that is not JSON") from error

    async def ask(self, method: str, target: str, value: Any = None, seconds: float = 60) -> tuple[int, Any]:
        """Send JSON and give back (status, JSON), all within `seconds`; error: HostDown, also for what is not JSON."""
        headers = [(b"content-type", b"application/json")] if value is not None else []
        body = json.dumps(value).encode() if value is not None else b""
        try:
            # The wait for its beginning ends later by itself, since of two that end at once one could be missed.
            asking = self.request(method, target, headers, body, seconds + _LATER)
            return await local_http.ask(asking, seconds, _ANSWER_LIMIT)
        except TimeoutError as error:
            raise self._down(f"did not answer within {seconds:.0f} seconds") from error

    def _down(self, what: str) -> HostDown:
        return HostDown(f"The module {self._name} {what}.", f"Its log is {self._log}.")
