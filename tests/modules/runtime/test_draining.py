"""The rest of a request that is answered already is taken in within bounds."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest
from starlette.types import Message

from parachute.base.errors import NotAllowed
from parachute.modules.runtime.core_api import CoreApi


class Taking:
    """Sessions that take nothing of what comes."""

    def __init__(self, error: NotAllowed | None) -> None:
        self._error = error

    async def take(
        self, module: Any, what: str, query: Mapping[str, Sequence[str]], body: AsyncIterator[bytes]
    ) -> dict[str, Any]:
        """Answer at once."""
        if self._error:
            raise self._error
        return {}


class Approving:
    """Hosts that approve everything."""

    def approved(self, name: str) -> str:
        """Return a module."""
        return name


async def _answer(error: NotAllowed | None, pieces: int) -> tuple[int, bool, int]:
    """Send pieces of a megabyte: the status, whether the connection is closed, and the number that was taken."""
    nothing: Any = None
    hosts: Any = Approving()
    sessions: Any = Taking(error)
    api = CoreApi(hosts, nothing, nothing, nothing, nothing, nothing, nothing, sessions, nothing)
    taken, sent = 0, list[Message]()

    async def receive() -> Message:
        nonlocal taken
        taken += 1
        return {"type": "http.request", "body": b"x" * (1 << 20), "more_body": taken < pieces}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "PUT", "path": "/sessions/file", "query_string": b"", "headers": []}
    await api.application({**scope, "state": {"module": "imports"}, "root_path": ""}, receive, send)
    return sent[0]["status"], (b"connection", b"close") in sent[0]["headers"], taken


@pytest.mark.parametrize(
    ("error", "status"), [(None, 200), (NotAllowed("No.", key="session_not_allowed"), 403)], ids=["taken", "refused"]
)
async def test_rest_is_taken_in_up_to_a_bound(error: NotAllowed | None, status: int) -> None:
    assert await _answer(error, 3) == (status, False, 3)
    assert await _answer(error, 1_000_000) == (status, True, 9)
