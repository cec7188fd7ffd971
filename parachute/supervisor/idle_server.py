"""The server of a process that was started by its socket, and how it leaves without losing a connection."""

import asyncio
import socket
from types import FrameType
from typing import Any

import uvicorn

from parachute.supervisor.activation import connection_waits
from parachute.supervisor.activity import Activity

# Accepting and setting up a connection takes the event loop three turns.
_SETTLING_TURNS = 10
# How long a client that has connected may take to send its request, once we want to leave.
_LINGER_SECONDS = 5.0
_LINGER_STEP_SECONDS = 0.05
_STOP_SECONDS = 3


class IdleServer(uvicorn.Server):
    """Serves an ASGI application until it is idle or a signal stops it.

    The application reports what is under way to `activity`, and ends every connection after its one answer: a second request
    could arrive just as this process leaves, and would be lost. `idle_seconds` None: it stays. Create it inside of the event
    loop. What runs has `stop_seconds` to end.
    """

    def __init__(
        self,
        app: Any,
        listener: socket.socket,
        activity: Activity,
        idle_seconds: float | None,
        stop_seconds: int = _STOP_SECONDS,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="asyncio",
                interface="asgi3",
                proxy_headers=False,
                # The faster one; it does not bound the size of the headers, which come from core alone.
                http="httptools",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=stop_seconds,
            )
        )
        self._listener = listener
        self._activity = activity
        self._idle_seconds = idle_seconds
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """Leave now; what still runs has a few seconds."""
        self._stop.set()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Leave as `stop` says; the original would raise the signal again in the end, and the exit code would tell of it."""
        self._loop.call_soon_threadsafe(self.stop)

    async def main_loop(self) -> None:
        """Replaces ten wake-ups a second by waiting for one of the two reasons to leave."""
        idle = asyncio.ensure_future(self._leave_when_idle())
        stop = asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait((idle, stop), return_when=asyncio.FIRST_COMPLETED)
            if idle.done():
                idle.result()
        finally:
            idle.cancel()
            stop.cancel()
            await asyncio.gather(idle, stop, return_exceptions=True)

    async def _leave_when_idle(self) -> None:
        if self._idle_seconds is None:
            await asyncio.get_running_loop().create_future()
            return
        while True:
            await self._activity.idle(self._idle_seconds)
            if not connection_waits(self._listener):
                break
            # Somebody came at the last moment; the event loop accepts the connection next.
            self._activity.touch()
            await asyncio.sleep(0)
        # No await between the look above and this line. From here on a new connection stays in the queue of the socket,
        # which whoever started us holds open, and wakes the next process.
        asyncio.get_running_loop().remove_reader(self._listener)
        # Closing the server before an accepted connection is set up would lose that connection (seen in Python 3.11).
        for _ in range(_SETTLING_TURNS):
            await asyncio.sleep(0)
        # Who is connected is served: every connection ends after its one answer, and a silent one after a while.
        deadline = asyncio.get_running_loop().time() + _LINGER_SECONDS
        while self.server_state.connections:
            await self._activity.idle(0)
            if asyncio.get_running_loop().time() > deadline:
                break
            await asyncio.sleep(_LINGER_STEP_SECONDS)
