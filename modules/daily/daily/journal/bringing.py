"""Entries from elsewhere: written at their time of their day, each once, and taken back as long as they are as they came."""

from collections import defaultdict
from collections.abc import Iterable

from daily.days.day import Day, new_block
from daily.days.frontmatter import Unchangeable
from daily.days.headings import key_of
from daily.journal import names
from daily.journal.documents import checked_content, checked_title, entry_version, id_of, version_of
from daily.journal.service import Journal
from parachute.core import InvalidInput, NotFound
from parachute.core.interfaces import BroughtEntry, Placed

_MOST = 500
_NEW, _SAME, _CHANGED, _FULL = "new", "same", "changed_entries", "days_full"


class BringingRoutes:
    """Answers to what the computer asks of the journal for an import; events say nothing of it, as of files that are read for the first time."""

    journal: Journal

    async def bring(self, entries: list[BroughtEntry], only_looking: bool = False) -> list[Placed]:
        """Write entries; what is there already stays as it is. Error: InvalidInput."""
        if len(entries) > _MOST:
            raise InvalidInput(f"entries: at most {_MOST} come together.", key="too_many_entries")
        wanted = {key: _checked(each) for each in entries if (key := _key(each))}
        await self.journal.reconciler.ready()
        there = {key: await self.journal.index.get(key) for key in wanted}
        days: dict[str, list[BroughtEntry]] = defaultdict(list)
        for key, each in wanted.items():
            if there[key] is None:
                days[each.date].append(each)
        full = set[str]()
        for date, new in () if only_looking else days.items():
            if not await self._write(date, new):
                full.update(each.id for each in new)
        placed = []
        for each in entries:
            found = there[_key(each)]
            version = entry_version(*_text(wanted[_key(each)]))
            outcome = _NEW if found is None else _SAME if version_of(found.entry) == version else _CHANGED
            placed.append(Placed(_FULL if each.id in full else outcome, version))
        return placed

    async def take_back(self, versions: dict[str, str]) -> list[str]:
        """Take out entries that are as they came; the ids of those that stay."""
        kept = list[str]()
        paths: dict[str, dict[str, str]] = defaultdict(dict)
        for entry_id, version in versions.items():
            try:
                found = await self.journal.get(entry_id)
            except NotFound:
                continue
            if version_of(found.entry) != version:
                kept.append(entry_id)
            else:
                paths[found.path][found.entry.key] = version
        for path, keys in paths.items():

            def edit(day: Day, keys: dict[str, str] = keys) -> Day:
                for key, version in keys.items():
                    entry = day.entry(key)
                    if entry is not None and version_of(entry) == version:
                        day = day.remove(key)
                return day

            try:
                day = await self.journal.day_files.change(path, edit)
            except Unchangeable:
                kept += map(id_of, keys)
                continue
            if day.is_bare:
                await self.journal.remove_bare(path, day)
        return kept

    async def _write(self, date: str, entries: Iterable[BroughtEntry]) -> bool:
        for path in names.files_of(date):
            try:
                await self.journal.day_files.change(path, lambda day: _with(day, entries, date))
            except Unchangeable:
                continue
            return True
        return False


def _with(day: Day, entries: Iterable[BroughtEntry], date: str) -> Day:
    """The day with entries where their times belong: behind those that were written before them."""
    for each in entries:
        key = _key(each)
        if day.entry(key) is not None:
            continue
        title, content = _text(each)
        fields = {"type": "text", **({"created": each.time} if each.time else {}), **each.fields}
        block = new_block(f"daily:{key}", title or each.time or "", content, day.eol)
        times = [str(written.fields.get("created") or "") for written in day.written]
        later = [place for place, time in enumerate(times) if each.time and time > each.time]
        position = day.blocks.index(day.written[later[0]].block) if later else len(day.blocks)
        day = day.insert(block, position, date).say(key, fields, date)
    return day


def _key(entry: BroughtEntry) -> str:
    key = key_of(entry.id)
    if key is None or id_of(key) != entry.id:
        raise InvalidInput(f"id: {entry.id[:40]!r} is no id of an entry.", key="entry_id_malformed")
    return key


def _text(entry: BroughtEntry) -> tuple[str, str]:
    return checked_title(entry.title) or entry.time or "", checked_content(entry.content, empty=True)


def _checked(entry: BroughtEntry) -> BroughtEntry:
    names.checked_date(entry.date)
    _text(entry)
    return entry
