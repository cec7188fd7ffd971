"""One request to a module's route."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from parachute.base.errors import InvalidInput, ParachuteError

BODY_LIMIT = 32 * 1024 * 1024

# Two of these together are one character; one alone is valid JSON, and nothing that a file or a database can hold.
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller, as the server determined it: `kind` is key, browser, cli, local (a program of this computer) or anonymous."""

    kind: str = "local"
    name: str = ""


@dataclass(slots=True)
class Request:
    """A parameter with this type receives the request itself.

    `path` is still percent-encoded and begins with `/`; names of `headers` are in lower case.
    """

    method: str
    path: str
    query_string: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    caller: Caller = field(default_factory=Caller)
    chunks: AsyncIterator[bytes] | None = None
    _body: bytes | None = None

    @property
    def query(self) -> dict[str, list[str]]:
        """Parameters of the query; error: InvalidInput when there are too many."""
        try:
            return parse_qs(self.query_string, keep_blank_values=True, max_num_fields=1000, errors="strict")
        except ValueError as error:
            raise InvalidInput(
                "query: at most 1,000 parameters in UTF-8 are allowed.", key="too_many_parameters"
            ) from error

    async def stream(self) -> AsyncIterator[bytes]:
        """The body piece by piece, of any length; it can be read once."""
        if self._body is not None:
            yield self._body
        elif self.chunks is not None:
            chunks, self.chunks = self.chunks, None
            async for chunk in chunks:
                yield chunk

    async def body(self) -> bytes:
        """The whole body; error: ParachuteError (`body_too_large`) above 32 MiB."""
        if self._body is None:
            found: list[bytes] = []
            size = 0
            async for chunk in self.stream():
                size += len(chunk)
                if size > BODY_LIMIT:
                    raise ParachuteError(
                        f"The body is larger than {BODY_LIMIT:,} bytes.", status=413, key="body_too_large"
                    )
                found.append(chunk)
            self._body = b"".join(found)
        return self._body

    async def json(self) -> Any:
        """The body as JSON, None if it is empty; error: InvalidInput."""
        data = await self.body()
        if not data.strip():
            return None
        try:
            value = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"body: this is not JSON ({error}).", status=400, key="malformed_json") from error
        if _SURROGATE.search(data):
            _refuse_halves(value)
        return value


def _refuse_halves(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("body: it holds half of a character (a lone surrogate).", key="half_a_character") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")
