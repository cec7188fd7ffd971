"""Appending to the audit log, without ever making a request wait."""

import asyncio
import contextlib
import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from parachute.base.clock import SYSTEM, Clock, as_text
from parachute.base.errors import ParachuteError
from parachute.security.audit.days import Days
from parachute.security.audit.records import BEGIN, digest, line, previous_of, record
from parachute.security.audit.retention import KEEP_DAYS, KEEP_MEGABYTES, remove_old
from parachute.security.audit.seals import Seal, Seals
from parachute.security.audit.verifying import counted

log = logging.getLogger(__name__)

_QUEUE_LIMIT = 10_000
_FLUSH_SECONDS = 2.0

_SEAL_SECONDS = 60.0
"""Between two seals of the day that is not over: what was written since could be taken away unseen while the computer is off."""

_DECISIONS = frozenset({"approval", "withdrawal", "inbox_answer"})
"""Records of what the owner decided, which are sealed as soon as they are written."""


class Audit:
    """Collect records in memory and write them in batches to `{folder}/YYYY-MM-DD.jsonl`, each with the hash of the one before.

    The queue is bounded: past its `limit` records are dropped and counted, and the count is written as a record of its own.
    What cannot be written is tried again with what comes next. The end of each day is kept in `seals`."""

    def __init__(
        self,
        folder: Path,
        seals: Path | None = None,
        *,
        clock: Clock = SYSTEM,
        limit: int = _QUEUE_LIMIT,
        keep_days: int = KEEP_DAYS,
        keep_megabytes: int = KEEP_MEGABYTES,
    ) -> None:
        self.days = Days(folder)
        self.seals = Seals(seals) if seals else None
        self._clock = clock
        self._limit = limit
        self._keep_days = keep_days
        self._keep_megabytes = keep_megabytes
        self._queue: deque[dict[str, Any]] = deque()
        self._dropped = 0
        self._flushing = threading.Lock()
        self._open: tuple[str, Seal] | None = None
        self._is_new_day = False
        self._has_decision = False
        self._unsealed: float | None = None
        """Time of the first record that no seal covers."""
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._listeners: list[Callable[[Mapping[str, Any]], None]] = []

    def start(self) -> None:
        """Begin to write; needs a running event loop."""
        self._task = asyncio.create_task(self._write_for_ever(), name="audit")

    async def close(self) -> None:
        """Write what is left, and seal the day as it is."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await asyncio.to_thread(self._flush, is_last=True)

    def listen(self, listener: Callable[[Mapping[str, Any]], None]) -> None:
        """Have each record heard as it is made, in the thread that makes it, by what must cost nothing."""
        self._listeners.append(listener)

    async def written(self) -> None:
        """Write what is waiting."""
        await asyncio.to_thread(self._flush)

    async def sealed(self) -> dict[str, Seal]:
        """Write what is waiting, and return what is known of each day; error: ParachuteError (`audit_seals_unreadable`)."""
        await self.written()
        sealed = await asyncio.to_thread(self.seals.read) if self.seals else {}
        return {**sealed, self._open[0]: self._open[1]} if self._open else sealed

    def decided(self, kind: str, who: str, what: str, host: str, where: str = "", **details: Any) -> None:
        """Record a decision of the owner about a host, or a repository or token of it; `where` is a workspace or a conversation."""
        self.append(
            event_type=kind,
            source_type="user",
            source_id=who,
            target_module=kind,
            target_endpoint=f"{what}, {where}" if where else what,
            hosts=[host],
            **details,
        )

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
        **details: Any,
    ) -> None:
        """Record what was done, as `records.record` says; returns at once and never fails."""
        if len(self._queue) >= self._limit:
            self._dropped += 1
            return
        made = record(
            as_text(self._clock.now()),
            event_type=event_type,
            source_type=source_type,
            source_id=source_id,
            target_module=target_module,
            target_endpoint=target_endpoint,
            para_ids_involved=para_ids_involved,
            duration_ms=duration_ms,
            success=success,
            error=error,
            **details,
        )
        self._queue.append(made)
        self._wake.set()
        for listener in self._listeners:
            listener(made)

    async def _write_for_ever(self) -> None:
        while True:
            if await self._clock.wait(self._wake, None if self._unsealed is None else _SEAL_SECONDS):
                await self._clock.sleep(_FLUSH_SECONDS)  # gather a batch: an SD card wears by the number of writes
            self._wake.clear()
            await asyncio.to_thread(self._flush)

    def _flush(self, *, is_last: bool = False) -> None:
        # At the end, the flush of a cancelled task may still go on in its thread.
        with self._flushing:
            try:
                while self._queue or self._dropped:
                    self._write(list(self._queue))
                if self._open and self._unsealed is not None:
                    is_due = self._has_decision or self._clock.elapsed() - self._unsealed >= _SEAL_SECONDS
                    if is_last or is_due:
                        self._seal(*self._open, is_over=is_last)
            except (OSError, ParachuteError) as error:
                log.error("The audit log cannot be written (%d records wait): %s", len(self._queue), error)

    def _write(self, waiting: list[dict[str, Any]]) -> None:
        """Write the records that wait and take them from the queue, day by day; those of an error stay."""
        for day, records in groupby(waiting, lambda each: each["timestamp"][:10]):
            batch = list(records)
            self._append(day, batch)
            for _ in batch:
                self._queue.popleft()
        if dropped := self._dropped:
            lost = record(
                as_text(self._clock.now()),
                event_type="audit_dropped",
                source_type="core",
                source_id="audit",
                target_module="audit",
                target_endpoint="append",
                success=False,
                error=f"{dropped} records came faster than they could be written.",
            )
            self._append(lost["timestamp"][:10], [lost])
            self._dropped -= dropped

    def _append(self, day: str, records: list[dict[str, Any]]) -> None:
        if self._open is None or self._open[0] != day:
            if self._open:
                self._seal(*self._open)
            known = self._known(day)
            self._seal(day, known)  # at once: a day without any was not written by this computer
            self._open, self._is_new_day = (day, known), True
        known = self._open[1]
        head, lines = known.head, []
        for each in records:
            lines.append(line(each, head))
            head = digest(lines[-1])
        self.days.append(day, b"\n".join(lines) + b"\n")
        self._open = day, replace(known, records=known.records + len(records), head=head)
        if self._unsealed is None:
            self._unsealed = self._clock.elapsed()
        self._has_decision = self._has_decision or any(map(_is_decision, records))
        if self._is_new_day:
            self._is_new_day = False
            remove_old(self.days, self.seals, self._keep_days, self._keep_megabytes)

    def _known(self, day: str) -> Seal:
        """Return the seal of a day: the stored one, one from the records that a killed process left, or one from the day before."""
        sealed = self.seals.read().get(day) if self.seals else None
        head = _head(self.days, day)
        if sealed is not None and head is not None and sealed.head == head:
            return replace(sealed, removed=False)
        # A clock that was set back finds its day, and goes on in it.
        earlier = (_head(self.days, name) for name in reversed(self.days.names()) if name < day)
        begin = next((each for each in earlier if each is not None), BEGIN)
        return counted(self.days, day, begin, sealed)

    def _seal(self, day: str, seal: Seal, *, is_over: bool = True) -> None:
        if self.seals:
            # After a power cut, records that are sealed and not there would look as if somebody had removed them.
            self.days.sync(day)
            (self.seals.put if is_over else self.seals.put_open)(day, seal)
        self._unsealed, self._has_decision = None, False


def _is_decision(record: Mapping[str, Any]) -> bool:
    if record["event_type"] in ("git", "network"):
        return bool(record["source_type"] == "user")  # of agents these are what they fetched, and whom they asked
    return record["event_type"] in _DECISIONS


def _head(days: Days, day: str) -> str | None:
    """The hash of the last record of a day, None where there is none that belongs to the chain."""
    try:
        last = days.last_line(day)
    except FileNotFoundError:
        return None
    return digest(last) if last is not None and previous_of(last) is not None else None
