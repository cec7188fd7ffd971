"""Common base of fake messengers: a thread that serves, calls that are counted, refused or held."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from tests.support.changes import Changes
from tests.support.gate import Gate
from tests.support.quick_server import QuickServer
from tests.support.waiting import SECONDS


class Refusal(Exception):
    """An answer that is an error of the service."""

    def __init__(self, status: int, document: dict[str, Any]) -> None:
        super().__init__(str(document))
        self.status = status
        self.document = document


class Held:
    """Calls of a method that stand still, before they do something or before they are answered."""

    def __init__(self, method: str, *, done: bool) -> None:
        self.method = method
        self.done = done
        self._gate = Gate()

    def wait_reached(self) -> None:
        """Wait until one stands there."""
        self._gate.wait_reached()

    def release(self) -> None:
        """Let them go on."""
        self._gate.open()

    async def stand(self) -> None:
        """Stand still."""
        await self._gate.passed()


class MessengerAPI(Changes):
    """A context manager; `url` is its address. `refusal` makes an error of the service.

    Whatever it is sent is a change that tests wait for.
    """

    refusal: Callable[..., Refusal]

    def __init__(self, token: str, routes: Sequence[Route]) -> None:
        super().__init__()
        self.token = token
        self.calls: list[tuple[str, Any]] = []
        self._failures: list[tuple[str, Refusal]] = []
        self._held: list[Held] = []
        self._changed = asyncio.Event()
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(Starlette(routes=routes), lifespan="off", log_config=None, access_log=False)
        self._server = QuickServer(config)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._loop: asyncio.AbstractEventLoop

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._server.ready.wait(SECONDS), "The messenger's service did not start."
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for held in self._held:
            held.release()
        self._server.end()
        self._wake()
        self._thread.join(SECONDS)
        self._socket.close()

    def fail(self, method: str, status: int, error: str, times: int = 1, **fields: Any) -> None:
        """Refuse the next calls of a method."""
        self._failures += [(method, self.refusal(status, error, **fields))] * times

    def hold(self, method: str, *, done: bool = False) -> Held:
        """Let the next call of a method stand still; `done`: it has done its work, and is not answered."""
        held = Held(method, done=done)
        self._held.append(held)
        return held

    def revoke(self) -> None:
        """Make the token worthless, at once."""
        self.token = "none"
        self._wake()

    def count(self, method: str) -> int:
        """Count the calls of a method."""
        return sum(each == method for each, _ in self.calls)

    async def _carry_out(self, method: str, said: Any, answer: Callable[[], Awaitable[Any]]) -> Any:
        self.calls.append((method, said))
        self.tell()
        await self._stand(method, done=False)
        for failure in self._failures:
            if failure[0] == method:
                self._failures.remove(failure)
                self.tell()
                raise failure[1]
        result = await answer()
        self.tell()
        await self._stand(method, done=True)
        return result

    async def _wait_for_news(self) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), 0.5)

    async def _stand(self, method: str, *, done: bool) -> None:
        for held in list(self._held):
            if held.method == method and held.done is done:
                self._held.remove(held)
                await held.stand()

    def _serve(self) -> None:
        async def run() -> None:
            self._loop = asyncio.get_running_loop()
            await self._server.serve(sockets=[self._socket])

        asyncio.run(run())

    def _wake(self) -> None:
        self.tell()
        with contextlib.suppress(RuntimeError, AttributeError):
            self._loop.call_soon_threadsafe(self._changed.set)
