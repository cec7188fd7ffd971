"""The server on the adopted socket, and how it leaves without losing a connection."""

import asyncio
import socket

import uvicorn

from parachute.offline.activation import connection_waits
from parachute.offline.activity import Activity
from parachute.offline.app import OfflineApp

# Accepting and setting up a connection takes the event loop three turns.
_SETTLING_TURNS = 10
# How long a client that has connected may take to send its request, once we want to leave.
_LINGER_SECONDS = 5.0
_LINGER_STEP_SECONDS = 0.05
_STOP_SECONDS = 3


class OfflineServer(uvicorn.Server):
    """Serves until it is idle or told to stop."""

    def __init__(self, app: OfflineApp, listener: socket.socket, activity: Activity, idle_seconds: float) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="asyncio",
                http="h11",  # bounds the size of the headers
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=_STOP_SECONDS,
            )
        )
        self._listener = listener
        self._activity = activity
        self._idle_seconds = idle_seconds
        self._stop = asyncio.Event()

    def stop(self) -> None:
        """Leave now; what still runs has a few seconds."""
        self._stop.set()

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
