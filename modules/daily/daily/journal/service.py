"""The journal: entries are written into the files of their days, and found through the index."""

import datetime
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from daily.days.day import Day, Entry
from daily.days.headings import key_of
from daily.journal import names
from daily.journal.day_files import DayFiles, Keep
from daily.journal.documents import audio_of, checked_content, checked_title, id_of, mentions_of, version_of
from daily.journal.index import LACKING, Found, Index
from daily.journal.labels import ANY, Kind, Only
from daily.journal.looking_back import Earlier, earlier_days
from daily.journal.publishing import CREATED, DELETED, UPDATED, Publisher, entry_event
from daily.journal.reconciling import Reconciler
from daily.journal.state import PendingEvent, State, checked_key, digest_of
from daily.journal.writing import New, Writing
from parachute.core import Conflict, InvalidInput, NotFound
from parachute.core.meaning import ENOUGH, merged, worth_showing
from parachute.core.nearness import Nearness
from parachute.core.services import Core

_MOST = 1000


class Journal:
    """`new_id` makes para-ids; `keep` gets each version that a change or a removal replaces."""

    def __init__(self, core: Core, new_id: Callable[[], str], keep: Keep) -> None:
        self._core = core
        self._new_id = new_id
        self.clock: Callable[[], datetime.datetime] = datetime.datetime.now
        # Of another name than in versions that knew no words of scripts without spaces: they go on with theirs.
        self.index = Index(core.data / "words.db")
        self.near = Nearness(core.meaning, LACKING, self.index.run, self.index.run)
        self.index.changed = self.near.changed
        self._state = State(core.data / "state.db")
        self.reconciler = Reconciler(core.files, self.index)
        self.day_files = DayFiles(core.files, self.reconciler.take, keep)
        self.publisher = Publisher(self._state, core.publish, self._path_of)
        self._writing = Writing(self.day_files, self._state, self.publisher, self.get)

    def start(self) -> None:
        """Begin to read the files, and publish what is left over."""
        self.reconciler.start()
        self.publisher.start()
        self.near.start()

    async def close(self) -> None:
        """Finish what is being written, and close everything."""
        await self._writing.close()
        await self.day_files.close()
        await self.publisher.close()
        await self.reconciler.close()
        await self.near.stop()
        self.index.close()
        self._state.close()

    def today(self) -> str:
        """The date of this computer's clock."""
        return f"{self.clock():%Y-%m-%d}"

    async def create(
        self,
        content: str,
        title: str = "",
        date: str | None = None,
        key: str | None = None,
        fields: dict[str, Any] | None = None,
        written_at: str | None = None,
    ) -> Found:
        """Write an entry; the same key and content again give the same entry. Errors: InvalidInput, Conflict."""
        fields = fields or {}
        now = min(self.clock(), _moment(written_at)) if written_at else self.clock()
        time = f"{now:%H:%M}"
        wanted = names.checked_date(date) if date else f"{now:%Y-%m-%d}"
        text, heading = checked_content(content, empty="audio" in fields), checked_title(title)
        fields = {"type": "text", **fields, "created": time}
        entry_id = self._new_id()
        event = entry_event(CREATED, entry_id, text, _audio(fields))
        digest = digest_of(text, heading, date or "", str(fields.get("audio")))
        new = New(checked_key(key), digest, entry_id, wanted, event, text, heading or time, fields)
        return await self._writing.create(new)

    async def get(self, entry_id: str) -> Found:
        """An entry; error: NotFound."""
        await self.reconciler.ready()
        found = await self._find(entry_id)
        if found is None:
            raise NotFound(f"There is no entry {entry_id[:80]}.", key="no_such_entry")
        return found

    async def created(self, key: str) -> Found | None:
        """The entry that was written for an idempotency key, None if there is none."""
        asked = await self._state.asked(key)
        try:
            return await self.get(asked.entry) if asked else None
        except NotFound:
            return None

    async def update(
        self,
        entry_id: str,
        content: str | None = None,
        title: str | None = None,
        fields: dict[str, Any] | None = None,
        expected_version: str | None = None,
    ) -> Found:
        """Change an entry; what is None stays. Errors: NotFound, InvalidInput, Conflict if it has not the `expected_version`."""
        found = await self.get(entry_id)
        key, old = found.entry.key, found.entry
        recorded = bool(audio_of(old) or (fields or {}).get("audio"))
        text = None if content is None else checked_content(content, empty=recorded)
        heading = None if title is None else checked_title(title)
        said = dict(fields or {})
        _check_version(old, expected_version)
        if (
            (text in (None, old.content))
            and (heading in (None, old.title))
            and said.items() <= dict(old.fields).items()
        ):
            return found
        now = datetime.datetime.now(datetime.UTC)
        said["updated"] = f"{now:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z"

        def edit(day: Day) -> Day:
            if entry := day.entry(key):
                _check_version(entry, expected_version)
            return day.change(key, heading, text).say(key, said, found.date)

        audio = audio_of(replace(old, fields={**old.fields, **said}))
        event = entry_event(UPDATED, id_of(key), old.content if text is None else text, audio)
        day = await self._writing.change(found.path, edit, event)
        entry = day.entry(key)
        if entry is None:  # another edit of the same moment took it out
            raise NotFound(f"There is no entry {entry_id[:80]}.", key="no_such_entry")
        return replace(found, entry=entry)

    async def delete(self, entry_id: str, expected_version: str | None = None) -> None:
        """Take an entry out of its file; its recording stays. Errors: NotFound, Conflict if it has not the `expected_version`."""
        found = await self.get(entry_id)
        key = found.entry.key
        _check_version(found.entry, expected_version)

        def edit(day: Day) -> Day:
            if entry := day.entry(key):
                _check_version(entry, expected_version)
            return day.remove(key)

        await self._writing.change(found.path, edit, PendingEvent(0, DELETED, {"entry_id": id_of(key)}))

    async def mention(self, entry_id: str, para_ids: set[str]) -> None:
        """Add to the file what an entry mentions, in addition to what is there; error: NotFound."""
        found = await self.get(entry_id)
        key = found.entry.key

        def edit(day: Day) -> Day:
            entry = day.entry(key)
            if entry is None or para_ids <= set(mentions_of(entry)):
                return day
            there = mentions_of(entry)
            return day.say(key, {"mentions": [*there, *sorted(para_ids - set(there))]}, found.date)

        await self.day_files.change(found.path, edit)

    async def of_day(self, date: str) -> list[Found]:
        """Entries of a day in the order of its file."""
        names.checked_date(date)
        await self.reconciler.soon_ready()
        await self.reconciler.some(names.files_of(date))
        return await self.index.of_day(date)

    async def between(self, first: str | None, last: str | None, limit: int, offset: int) -> tuple[list[Found], int]:
        """Entries from one day to another, newest first, and how many there are in all."""
        bounds = _bounds(first, last)
        _check_limit(limit, offset)
        await self.reconciler.ready()
        self.reconciler.refresh_soon()
        return await self.index.between(*bounds, limit, offset), await self.index.count(*bounds)

    async def days(self, first: str | None, last: str | None) -> list[tuple[str, int]]:
        """The days that have entries, each with how many; error: InvalidInput."""
        bounds = _bounds(first, last)
        await self.reconciler.ready()
        self.reconciler.refresh_soon()
        return await self.index.days(*bounds)

    async def restore(self, entry_id: str, date: str, before: Day) -> Found:
        """Put an entry that was removed back where it stood in the day of then; errors: NotFound, Conflict."""
        key = key_of(entry_id)
        removed = next((each for each in before.written if key and each.block.key == key), None)
        if key is None or removed is None:
            raise NotFound(f"There is no entry {entry_id[:80]}.", key="no_such_entry")
        if await self._find(entry_id) is not None:
            raise Conflict(f"{id_of(key)} is in the journal already.", key="entry_exists")
        event = entry_event(CREATED, id_of(key), removed.entry.content, audio_of(removed.entry))
        earlier = before.blocks[: before.blocks.index(removed.block)]
        keys = {block.key for block in earlier}

        def edit(day: Day) -> Day:
            if day.entry(key) is not None:
                raise Conflict(f"{id_of(key)} is in the journal already.", key="entry_exists")
            there = [n for n, block in enumerate(day.blocks) if block in earlier or (block.key and block.key in keys)]
            first = 1 if day.blocks and day.blocks[0].heading is None else 0
            return day.insert(removed.block, there[-1] + 1 if there else first, date).say(key, removed.fields, date)

        path = next(names.files_of(date))
        day = await self._writing.change(path, edit, event)
        entry = day.entry(key)
        assert entry is not None
        return Found(0, date, path, entry)

    async def search(
        self,
        text: str,
        first: str | None = None,
        last: str | None = None,
        limit: int = 20,
        *,
        near: bool = False,
        only: Only = ANY,
    ) -> list[Found]:
        """Entries with all the words of a text, newest first; error: InvalidInput.

        `only` leaves those that mention an entity, or have labels: without a text, all of these. With `near` others that mean the same, too, and where none has all the words, those with some of them.
        """
        bounds = _bounds(first, last)
        _check_limit(limit)
        await self.reconciler.ready()
        self.reconciler.refresh_soon()
        found = await self.index.search(text, *bounds, limit, only)
        if not near or not text.strip() or len(found) >= min(limit, ENOUGH):
            return found
        numbers = [int(each.key) for each in worth_showing(await self.near.find(text), len(found))]
        more = [replace(each, by_meaning=True) for each in await self.index.numbered(numbers, *bounds, only)]
        sure = {each.number for each in found}
        if not found:
            found = await self.index.search_any(text, *bounds, limit, only)
        return merged(found, more, limit, lambda each: each.number, lambda each: each.number in sure)

    async def remove_bare(self, path: str, day: Day) -> None:
        """Remove the file of a day in which nothing is written any more."""
        await self.day_files.remove(path, day)
        await self.reconciler.some([path])

    async def labels(self, kind: Kind, limit: int) -> list[tuple[str, int]]:
        """Tags, or parts of the names of places, with how many entries have each, the most frequent first; error: InvalidInput."""
        _check_limit(limit)
        await self.reconciler.ready()
        self.reconciler.refresh_soon()
        return await self.index.labels(kind, limit)

    async def on_this_day(self, date: str | None) -> tuple[str, list[tuple[Earlier, list[Found]]]]:
        """Entries of the same day in earlier years, the last year first; without any, of a month and a week ago. Error: InvalidInput."""
        date = names.checked_date(date) if date else self.today()
        await self.reconciler.ready()
        self.reconciler.refresh_soon()
        years, sooner = earlier_days(date, await self.index.first_year())
        for days in (years, sooner):
            there = set(await self.index.written(each.date for each in days))
            if there:
                return date, [(each, await self.index.of_day(each.date)) for each in days if each.date in there]
        return date, []

    async def searched(self) -> dict[str, int]:
        """Numbers of what a search looks through."""
        return await self.near.searched(await self.index.count(*_bounds(None, None)))

    async def problems(self) -> list[dict[str, str]]:
        """Files that cannot be read or changed, and what else a person has to check."""
        await self.reconciler.everything()
        found = [
            {"path": file.path, "problem": file.problem}
            for file in (await self.index.files()).values()
            if file.problem is not None
        ]
        copy = "Two devices changed this file at the same time: compare it with the one beside it, and delete it then."
        found += [{"path": path, "problem": copy} for path in self.reconciler.conflicts]
        for path, date in self.reconciler.misnamed.items():
            wanted = f"{names.JOURNALS}/{date}.md"
            named = f"It is not read, because its day is {wanted}: rename it to that, or move its text there."
            found.append({"path": path, "problem": named})
        for key in await self.index.twice():
            entry = await self.index.get(key)
            if entry is not None:
                found.append({"path": entry.path, "problem": f"The journal has {id_of(key)} more than once."})
        return found

    async def _find(self, entry_id: str) -> Found | None:
        key = key_of(entry_id)
        if key is None:
            return None
        found = await self.index.get(key)
        if found is None:
            await self.reconciler.everything()
            return await self.index.get(key)
        if not await self.reconciler.some([found.path]):
            return found
        found = await self.index.get(key)
        if found is None:  # moved to another file by hand
            await self.reconciler.everything()
            found = await self.index.get(key)
        return found

    async def _path_of(self, entry_id: str) -> str | None:
        await self.reconciler.ready()
        found = await self._find(entry_id)
        return found.path if found is not None else None


def _check_version(entry: Entry, expected: str | None) -> None:
    if expected not in (None, version_of(entry)):
        raise Conflict("The entry has changed since.", "Reload it and look at the current state.", key="entry_changed")


def _moment(text: str) -> datetime.datetime:
    """A time of writing by this computer's clock; error: InvalidInput."""
    try:
        read = datetime.datetime.fromisoformat(text)
        if read.tzinfo is not None:
            return read.astimezone().replace(tzinfo=None)
    except (ValueError, OverflowError):
        pass
    raise InvalidInput(
        "written_at: a time with its zone is expected, such as 2024-01-15T08:30:00Z.", key="invalid_time"
    )


def _audio(fields: dict[str, Any]) -> str | None:
    return f"{names.ROOT}/{fields['audio']}" if fields.get("audio") else None


def _bounds(first: str | None, last: str | None) -> tuple[str, str]:
    bounds = (
        names.checked_date(first, "from") if first else names.FIRST,
        names.checked_date(last, "to") if last else names.LAST,
    )
    if bounds[0] > bounds[1]:
        raise InvalidInput("from: the first day must not be after the last one.", key="period_reversed")
    return bounds


def _check_limit(limit: int, offset: int = 0) -> None:
    if not 1 <= limit <= _MOST:
        raise InvalidInput(f"limit: 1 to {_MOST:,} are allowed.", key="limit_out_of_range")
    if not 0 <= offset < 1 << 40:
        raise InvalidInput("offset: it must not be below 0.", key="offset_below_zero")
