"""The routes of entries, and what other modules and agents may ask."""

from typing import Any

from daily.journal import names
from daily.journal.documents import (
    checked_content,
    checked_title,
    document_of,
    found_document,
    journal_entry,
    version_of,
)
from daily.journal.labels import asked, tag_named
from daily.journal.mentions import Linker
from daily.journal.removed import last_with
from daily.journal.service import Journal
from daily.sync.versions import Versions
from parachute.core import Conflict, InvalidInput, NotFound, route
from parachute.core.interfaces import JournalEntry
from parachute.core.services import Core


class EntryRoutes:
    """Writing, reading and finding entries; none of it needs another module or a model."""

    core: Core
    journal: Journal
    linker: Linker
    versions: Versions

    @route("POST", "/entries")
    async def add_entry(
        self,
        content: str = "",
        title: str = "",
        date: str | None = None,
        idempotency_key: str | None = None,
        audio_path: str | None = None,
        duration: int | None = None,
        written_at: str | None = None,
        tags: list[str] | None = None,
        place: str | None = None,
    ) -> dict[str, Any]:
        """Write an entry, for today unless a date is given; the same key again gives the same entry.

        `written_at` is the time of writing, such as 2024-01-15T08:30:00Z, where that was before it is sent.
        """
        fields = await self._audio(audio_path, duration)
        if tags:
            fields["tags"] = list(dict.fromkeys(map(tag_named, tags)))
        if place and (name := checked_title(place)):
            fields["place"] = name
        return document_of(await self.journal.create(content, title, date, idempotency_key, fields, written_at))

    @route("GET", "/entries")
    async def list_entries(
        self, date: str | None = None, limit: int = 50, offset: int = 0, **other: Any
    ) -> dict[str, Any]:
        """Entries of a `date` in the order of the day, or newest first, `from` one day `to` another."""
        first, last = other.get("from"), other.get("to")
        if date is None:
            found, total = await self.journal.between(first, last, limit, offset)
            return {"entries": [document_of(entry) for entry in found], "total": total}
        if first or last:
            raise InvalidInput("date: give a date, or `from` and `to`.", key="two_periods")
        if not 1 <= limit <= 1000 or offset < 0:
            raise InvalidInput("limit: 1 to 1,000 are allowed, and an offset of 0 or more.", key="limit_out_of_range")
        day = await self.journal.of_day(date)
        return {"entries": [document_of(entry) for entry in day[offset : offset + limit]], "total": len(day)}

    @route("GET", "/entries/{entry_id}")
    async def get_entry(self, entry_id: str) -> dict[str, Any]:
        """One entry."""
        return document_of(await self.journal.get(entry_id))

    @route("POST", "/entries/{entry_id}/links")
    async def link_entry(self, entry_id: str) -> dict[str, Any]:
        """Link an entry with its subjects, and list them and what was proposed for it."""
        await self.journal.get(entry_id)
        return (await self.linker.link(entry_id)).document()

    @route("PUT", "/entries/{entry_id}")
    async def update_entry(
        self,
        entry_id: str,
        content: str | None = None,
        title: str | None = None,
        audio_path: str | None = None,
        duration: int | None = None,
        expected_version: str | None = None,
    ) -> dict[str, Any]:
        """Change an entry; what is not given stays. 409 if it has not the `expected_version` any more."""
        fields = await self._audio(audio_path, duration)
        return document_of(await self.journal.update(entry_id, content, title, fields, expected_version))

    @route("DELETE", "/entries/{entry_id}")
    async def delete_entry(self, entry_id: str) -> dict[str, Any]:
        """Take an entry out of the journal; the version before is kept."""
        await self.journal.delete(entry_id)
        return {"deleted": entry_id}

    @route("POST", "/entries/{entry_id}/restore")
    async def restore_entry(self, entry_id: str, date: str) -> dict[str, Any]:
        """Bring an entry of a day back that was removed, as it was then."""
        for path in names.files_of(names.checked_date(date)):
            if before := await last_with(self.versions, path, entry_id):
                return document_of(await self.journal.restore(entry_id, date, before))
        raise NotFound(f"No version from {date} is kept that has {entry_id[:80]}.", key="no_such_version")

    @route("GET", "/days")
    async def list_days(self, **query: Any) -> dict[str, Any]:
        """The days that have entries, `from` one `to` another, each with how many."""
        found = await self.journal.days(query.get("from"), query.get("to"))
        return {"days": [{"date": date, "entries": count} for date, count in found]}

    @route("GET", "/on-this-day")
    async def on_this_day(self, date: str | None = None, limit: int = 50) -> dict[str, Any]:
        """Entries of the same day in earlier years, of today unless a date is given, the last year first.

        Where there are none, those of a month and of a week ago: `ago` says how long it is, and `limit` counts entries.
        """
        if not 1 <= limit <= 1000:
            raise InvalidInput("limit: 1 to 1,000 are allowed.", key="limit_out_of_range")
        day, found = await self.journal.on_this_day(date)
        days = []
        for earlier, entries in found:
            shown, limit = entries[:limit], limit - len(entries[:limit])
            if shown:
                ago = {"unit": earlier.unit, "count": earlier.number}
                days.append({"date": earlier.date, "ago": ago, "entries": [document_of(each) for each in shown]})
        return {"date": day, "days": days}

    @route("GET", "/tags")
    async def list_tags(self, limit: int = 200) -> dict[str, Any]:
        """Tags of entries with how many have each, the most frequent first: words with a `#`, and `tags` of the front matter."""
        found = await self.journal.labels("tag", limit)
        return {"tags": [{"name": name, "entries": count} for name, count in found]}

    @route("GET", "/places")
    async def list_places(self, limit: int = 200) -> dict[str, Any]:
        """Parts of the names of places, such as towns, with how many entries have each, the most frequent first."""
        found = await self.journal.labels("place", limit)
        return {"places": [{"name": name, "entries": count} for name, count in found]}

    @route("GET", "/search")
    async def search_entries(self, q: str = "", limit: int = 20, **other: Any) -> dict[str, Any]:
        """Entries with all the words, newest first, and then others with that meaning.

        `from` and `to` bound the days, and `about` leaves those that mention the entity with that id; `tag` those with all
        of the tags, with commas between them, and `place` those of a place. With these two `q` may be empty.
        """
        bounds = other.get("from"), other.get("to")
        only = asked(other.get("about"), other.get("tag"), other.get("place"))
        found = await self.journal.search(q, *bounds, limit, near=True, only=only)
        return {
            "query": q,
            "entries": [found_document(entry) for entry in found],
            "searched": await self.journal.searched(),
        }

    @route("GET", "/today")
    async def today(self) -> dict[str, Any]:
        """Today's entries, as this computer's clock has it."""
        date = self.journal.today()
        return {"date": date, "entries": [document_of(entry) for entry in await self.journal.of_day(date)]}

    @route("GET", "/problems")
    async def list_problems(self) -> dict[str, Any]:
        """Files of the journal that a person has to check; they are never written over."""
        return {"problems": await self.journal.problems()}

    async def get_recent_entries(self, limit: int = 10) -> list[JournalEntry]:
        """The newest entries, newest first."""
        found, _ = await self.journal.between(None, None, limit, 0)
        return [journal_entry(entry) for entry in found]

    async def search(self, query: str, date_from: str | None = None, limit: int = 20) -> list[JournalEntry]:
        """Find entries by words."""
        return [journal_entry(entry) for entry in await self.journal.search(query, date_from, None, limit)]

    async def get(self, entry_id: str) -> JournalEntry | None:
        """One entry."""
        try:
            return journal_entry(await self.journal.get(entry_id))
        except NotFound:
            return None

    async def entries_of(self, date: str) -> list[JournalEntry]:
        """All entries of a day."""
        return [journal_entry(entry) for entry in await self.journal.of_day(date)]

    async def create(self, content: str, title: str = "", date: str | None = None) -> JournalEntry:
        """Write an entry, for today unless a date is given."""
        return journal_entry(await self.journal.create(content, title, date))

    async def transcribed(self, entry_id: str, text: str, language: str | None = None, replaced: str = "") -> bool:
        """Write what was said in an entry's recording as its text, where that is still empty or the `replaced` one."""
        try:
            entry = (await self.journal.get(entry_id)).entry
            if entry.content not in ("", replaced):
                return entry.content == checked_content(text, empty=True)
            fields = {"language": language} if language else None
            await self.journal.update(entry_id, text, None, fields, version_of(entry))
        except (NotFound, Conflict):
            return False
        return True

    async def _audio(self, path: str | None, duration: int | None) -> dict[str, Any]:
        """Fields of the frontmatter for a recording; error: NotFound if there is none at the path."""
        if path is None:
            if duration is not None:
                raise InvalidInput("duration: it belongs to an audio_path.", key="duration_without_audio")
            return {}
        inner = path.removeprefix(f"{names.ROOT}/")
        place = f"{names.ROOT}/{inner}"
        if not inner.startswith("assets/"):
            raise InvalidInput(
                "audio_path: a path such as assets/2024-01-15/note.m4a is expected.", key="invalid_audio_path"
            )
        if await self.core.files.stat(place) is None:
            raise NotFound(
                f"audio_path: there is no {inner}.",
                "Upload it first, with POST /api/daily/assets/{name}.",
                key="no_such_audio",
            )
        if duration is not None and duration < 0:
            raise InvalidInput("duration: seconds from 0 on are allowed.", key="invalid_duration")
        fields: dict[str, Any] = {"type": "voice", "audio": inner}
        return fields if duration is None else {**fields, "duration": duration}
