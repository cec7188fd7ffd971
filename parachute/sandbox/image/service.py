"""The build of the image in the server: readers come and go, and follow its events."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from parachute.base.errors import ParachuteError
from parachute.sandbox.image.building import Try, build
from parachute.sandbox.image.recipe import PACKAGES

log = logging.getLogger(__name__)

Event = dict[str, Any]


class Builds:
    """One build at a time; `folder` is the state directory, `attempt` tries an image before it is used.

    `wanted` are the packages of the image.
    """

    def __init__(self, folder: Path, attempt: Try, wanted: Sequence[str] = PACKAGES) -> None:
        self._folder = folder
        self._attempt = attempt
        self._wanted = wanted
        self._events: list[Event] = []
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    @property
    def is_running(self) -> bool:
        """True while an image is being built."""
        return self._task is not None and not self._task.done()

    def begin(self) -> AsyncIterator[tuple[int, Event]]:
        """The events of a new build, or of the one that runs: `progress`, and at the end `done` or `build_error`."""
        if not self.is_running:
            self._events = []
            self._task = asyncio.create_task(self._build(self._events), name="image build")
        return self._follow(self._events)

    async def cancel(self) -> bool:
        """End the build and all that it started; whether there was one. The image before stays."""
        if self._task is None or self._task.done():
            return False
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        return True

    async def close(self) -> None:
        """End the build, if there is one."""
        await self.cancel()

    async def _build(self, events: list[Event]) -> None:
        try:
            image = await build(
                self._folder,
                lambda line: self._append(events, {"type": "progress", "message": line}),
                self._attempt,
                wanted=self._wanted,
            )
        except asyncio.CancelledError:
            self._append(events, {"type": "build_error", "error": "The build was ended.", "key": "cancelled"})
            raise
        except ParachuteError as error:
            self._append(events, {"type": "build_error", "error": error.message, "hint": error.hint, "key": error.key})
        except Exception:
            log.exception("The image could not be built")
            self._append(
                events,
                {"type": "build_error", "error": "Something went wrong inside this computer.", "key": "internal"},
            )
        else:
            self._append(events, {"type": "done", "image": image.as_json()})

    def _append(self, events: list[Event], event: Event) -> None:
        events.append(event)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _follow(self, events: list[Event]) -> AsyncIterator[tuple[int, Event]]:
        position = 0
        while True:
            while position < len(events):
                event = events[position]
                position += 1
                yield position, event
                if event["type"] != "progress":
                    return
            changed = self._changed
            if position == len(events):
                await changed.wait()
