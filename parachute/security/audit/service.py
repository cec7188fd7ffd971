"""Appending to the audit log, without ever making a request wait."""

import asyncio
import contextlib
import json
import logging
import os
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from parachute.base.clock import now
from parachute.base.errors import ParachuteError
from parachute.base.files import private_folder
from parachute.base.folders import Folder

log = logging.getLogger(__name__)

_QUEUE_LIMIT = 10_000
_FLUSH_SECONDS = 2.0
_TEXT_LIMIT = 500


class Audit:
    """Collect events in memory and write them in batches to `{folder}/YYYY-MM-DD.jsonl`.

    The queue is bounded: past its limit events are dropped and counted, and the count is written as an event of its own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._queue: deque[str] = deque()
        self._dropped = 0
        self._flushing = threading.Lock()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to write; needs a running event loop."""
        self._task = asyncio.create_task(self._write_for_ever(), name="audit")

    async def close(self) -> None:
        """Write what is left."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await asyncio.to_thread(self._flush)

    def append(
        self,
        *,
        event_type: str,
        source_type: str,
        source_id: str,
        target_module: str,
        target_endpoint: str,
        para_ids_involved: Sequence[str] = (),
        duration_ms: int = 0,
        success: bool = True,
        error: str | None = None,
    ) -> None:
        """Record one event (spec 000, "Audit Event Structure"); returns at once and never fails."""
        if len(self._queue) >= _QUEUE_LIMIT:
            self._dropped += 1
            return
        self._queue.append(
            _line(
                event_type=event_type,
                source_type=source_type,
                source_id=source_id[:_TEXT_LIMIT],
                target_module=target_module[:_TEXT_LIMIT],
                target_endpoint=target_endpoint[:_TEXT_LIMIT],
                para_ids_involved=list(para_ids_involved),
                duration_ms=duration_ms,
                success=success,
                error=error[:_TEXT_LIMIT] if error else None,
            )
        )
        self._wake.set()

    async def _write_for_ever(self) -> None:
        while True:
            await self._wake.wait()
            await asyncio.sleep(_FLUSH_SECONDS)  # gather a batch: an SD card wears by the number of writes
            self._wake.clear()
            await asyncio.to_thread(self._flush)

    def _flush(self) -> None:
        # At the end, the flush of a cancelled task may still go on in its thread.
        with self._flushing:
            batches: dict[str, list[str]] = {}
            while self._queue:
                line = self._queue.popleft()
                batches.setdefault(_day(line), []).append(line)
            if self._dropped:
                dropped, self._dropped = self._dropped, 0
                line = _line(
                    event_type="audit_dropped",
                    source_type="core",
                    source_id="audit",
                    target_module="audit",
                    target_endpoint="append",
                    para_ids_involved=[],
                    duration_ms=0,
                    success=False,
                    error=f"{dropped} events came faster than they could be written.",
                )
                batches.setdefault(_day(line), []).append(line)
            for day, lines in batches.items():
                try:
                    self._write(day, lines)
                except (OSError, ParachuteError) as error:
                    log.error("The audit log cannot be written (%d events lost): %s", len(lines), error)

    def _write(self, day: str, lines: list[str]) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK
        with Folder.open(private_folder(self._folder)) as folder:
            descriptor = folder.descriptor(f"{day}.jsonl", flags)
        with os.fdopen(descriptor, "ab") as file:
            # An agent names its tools itself, also with halves of characters that no encoding has.
            file.write(("\n".join(lines) + "\n").encode(errors="replace"))


def _line(**event: Any) -> str:
    return json.dumps({"timestamp": now(), **event}, ensure_ascii=False)


def _day(line: str) -> str:
    return line[15:25]  # of `{"timestamp": "2026-01-31T…`
