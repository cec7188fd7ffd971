"""Calls of the server's API, as the owner of this installation.

The standard library's client, because the others take longer to import than a call takes.
"""

import asyncio
import http.client
import json
import urllib.parse
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, BinaryIO

from parachute.base.errors import ParachuteError, Unavailable
from parachute.config.settings.home import Home
from parachute.security.keys.cli_token import CliToken
from parachute.supervisor import control

_SECONDS = 30.0
_SILENCE = 180.0
"""The server says something at least every minute; after three the connection is taken for lost."""

PIECE = 256 * 1024
_ANSWER_LIMIT = 64 * 1024 * 1024
_EVERY_ADDRESS = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}  # noqa: S104 -- compared, not listened on


class Refused(ParachuteError):
    """The API answered with an error, in its own words."""


class Api:
    """One server; a connection per call, so that a call can be made while a stream is read."""

    def __init__(self, host: str, port: int, token: str) -> None:
        self.host = _EVERY_ADDRESS.get(host, host)
        self.port = port
        self._token = token

    @classmethod
    def find(cls, home: Home | None = None) -> "Api":
        """The API that this installation's supervisor runs; error: Unavailable if nothing runs, or core is down."""
        home = home or Home.find()
        return cls.of_status(home, ask_supervisor(home, "status", 10))

    @classmethod
    def if_running(cls, home: Home) -> "Api | None":
        """The same, None if nothing runs; error: Unavailable if core is down."""
        try:
            return cls.find(home)
        except Unavailable as error:
            if error.key == "not_running":
                return None
            raise

    @classmethod
    def if_available(cls, home: Home) -> "Api | None":
        """The same, None if nothing runs or core is down."""
        try:
            return cls.find(home)
        except Unavailable:
            return None

    @classmethod
    def of_status(cls, home: Home, status: dict[str, Any]) -> "Api":
        """The API in the supervisor's `status`; error: Unavailable if core is down, with the reason."""
        core = next((unit for unit in status["units"] if unit["name"] == "core"), None)
        # While core starts again, the socket holds what comes in.
        if core is None or core["state"] not in ("running", "starting"):
            reason = (core and core["reason"]) or "The API is stopped."
            raise Unavailable(
                reason, "`parachute restart` starts it; `parachute logs core` shows its output.", key="not_up"
            )
        try:
            token = CliToken(home.root).obtain()
        except OSError:  # a disk that takes no new one; on this machine everyday calls need none
            token = ""
        return cls(status["main_server_host"], status["main_server_port"], token)

    @property
    def url(self) -> str:
        """The address for a person."""
        return address(self.host, self.port)

    def get(self, path: str, /, **query: str | int | bool | None) -> Any:
        """The JSON that a GET answers; what is None or empty is not asked. Errors: Refused, Unavailable."""
        given = {
            name: str(value).lower() if isinstance(value, bool) else value
            for name, value in query.items()
            if value not in (None, "")
        }
        return self._call("GET", f"{path}?{urllib.parse.urlencode(given)}" if given else path)

    def get_slowly(self, path: str) -> Any:
        """The JSON that a GET answers which has to start something first; errors: Refused, Unavailable."""
        return self._call("GET", path, seconds=_SILENCE)

    def post(self, path: str, body: object = None, seconds: float = _SECONDS) -> Any:
        """The JSON that a POST answers; errors: Refused, Unavailable."""
        return self._call("POST", path, {} if body is None else body, seconds)

    def put(self, path: str, body: object, headers: Mapping[str, str] | None = None, seconds: float = _SECONDS) -> Any:
        """The JSON that a PUT answers; errors: Refused, Unavailable."""
        return self._call("PUT", path, body, seconds, headers=headers)

    def upload(
        self, method: str, path: str, file: BinaryIO, size: int, headers: Mapping[str, str] | None = None
    ) -> Any:
        """The JSON that a PUT or POST of a file of this size answers; errors: Refused, Unavailable."""
        given = {"Content-Length": str(size), "Content-Type": "application/octet-stream", **(headers or {})}
        return self._answer(self._send(method, path, file, _SILENCE, given))

    def patch(self, path: str, body: object) -> Any:
        """The JSON that a PATCH answers; errors: Refused, Unavailable."""
        return self._call("PATCH", path, body)

    def delete(self, path: str) -> Any:
        """The JSON that a DELETE answers; errors: Refused, Unavailable."""
        return self._call("DELETE", path)

    def stream(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> http.client.HTTPResponse:
        """An answer to be read bit by bit; errors: Refused, Unavailable. Reading raises OSError or HTTPException."""
        return self._open(method, path, body, _SILENCE, headers)

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=seconds, blocksize=PIECE)

    def _call(
        self,
        method: str,
        path: str,
        body: object = None,
        seconds: float = _SECONDS,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        return self._answer(self._open(method, path, body, seconds, headers))

    def _answer(self, response: http.client.HTTPResponse) -> Any:
        with response:
            try:
                return json.loads(response.read(_ANSWER_LIMIT) or b"null")
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise Unavailable(
                    f"The answer of {self.url} broke off.", "Try again.", key="answer_broke_off"
                ) from error

    def _open(
        self, method: str, path: str, body: object, seconds: float, headers: Mapping[str, str] | None = None
    ) -> http.client.HTTPResponse:
        if body is None:
            return self._send(method, path, None, seconds, headers or {})
        given = {"Content-Type": "application/json", **(headers or {})}
        return self._send(method, path, json.dumps(body).encode(), seconds, given)

    def _send(
        self, method: str, path: str, payload: bytes | BinaryIO | None, seconds: float, given: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        connection = self._connection(seconds)
        headers = {"Accept": "application/json", "Connection": "close", **given}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # it was refused before all of it was sent
                connection.request(method, path, payload, headers)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Unavailable(
                f"{self.url} does not answer ({error or type(error).__name__}).",
                "`parachute status` shows the processes, `parachute logs core` the server's log.",
                key="api_silent",
            ) from error
        if response.status >= 400:
            with response:
                raise _refusal(response)
        return response


def ask_supervisor(home: Home, operation: str, seconds: float = 90) -> dict[str, Any]:
    """The supervisor's answer; error: Unavailable if nothing runs."""
    return asyncio.run(control.ask(home, operation, seconds))


def address(host: str, port: int) -> str:
    """The URL of a host and a port."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def quoted(identifier: str) -> str:
    """An id as one part of a path, whatever is in it."""
    return urllib.parse.quote(identifier, safe="")


def _refusal(response: http.client.HTTPResponse) -> Refused:
    try:
        answer = json.loads(response.read(_ANSWER_LIMIT))
        detail, hint = answer["detail"], answer.get("hint")
        if isinstance(detail, str):
            return Refused(detail, str(hint) if hint else None, key=str(answer.get("key")), status=response.status)
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError, AttributeError):
        pass  # an answer that is not of our API has nothing but its status
    return Refused(f"The API answered {response.status} {response.reason}.", status=response.status, key="api_refused")
