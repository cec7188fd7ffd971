"""Changes of the journal that somebody proposed and the user approved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from daily.days.day import Entry
from daily.journal.documents import checked_content, checked_title, version_of
from daily.journal.index import Found
from daily.journal.names import checked_date
from daily.journal.service import Journal
from parachute.core import Conflict, InvalidInput, NotFound


@dataclass(frozen=True, slots=True)
class NewEntry:
    """Fields of a new entry."""

    content: Annotated[str, "The text, in Markdown"]
    title: Annotated[str, "Without one it is the time"] = ""
    date: Annotated[str, "The day, as YYYY-MM-DD; without one it is today"] = ""


@dataclass(frozen=True, slots=True)
class EntryChange:
    """A change of an entry; what is left out stays."""

    append: Annotated[str, "Lines of Markdown for the end of its text"] = ""
    content: Annotated[str, "Its whole new text, in place of the old one"] = ""
    title: str = ""


ACCEPTS = {"create": NewEntry, "update": EntryChange}


async def check(journal: Journal, action: str, target_id: str | None, payload: Mapping[str, Any]) -> None:
    """Raise what `apply` would as things are now; nothing is changed."""
    if action == "create":
        checked_content(payload["content"])
        if payload.get("date"):
            checked_date(payload["date"])
    else:
        _, content, _ = await change_of(journal, target_id, payload)
        if content is not None:
            checked_content(content)
    checked_title(payload.get("title", ""))


async def apply(
    journal: Journal,
    suggestion: str,
    action: str,
    target_id: str | None,
    payload: Mapping[str, Any],
    expected_version: str | None,
) -> Found:
    """Make one change; errors: InvalidInput for what cannot be meant, NotFound, Conflict when the entry has changed."""
    if action == "create":
        date = payload.get("date") or None
        return await journal.create(payload["content"], payload.get("title", ""), date, key=_key(suggestion))
    found, content, title = await change_of(journal, target_id, payload)
    version = expected_version or version_of(found.entry)
    return await journal.update(str(target_id), content, title, expected_version=version)


async def applied(
    journal: Journal,
    suggestion: str,
    action: str,
    target_id: str | None,
    payload: Mapping[str, Any],
    expected_version: str | None,
) -> Found | None:
    """The result of a change during which the process was killed, None if it was not made; error: Conflict if that is not certain."""
    if action == "create":
        return await journal.created(_key(suggestion))
    try:
        found = await journal.get(str(target_id))
    except NotFound:
        raise Conflict(f"{target_id} is gone, so it is unknown whether it was changed.", key="target_gone") from None
    if version_of(found.entry) == expected_version:
        return None
    text, title = found.entry.content, payload.get("title")
    is_there = (
        text.endswith(payload.get("append", "").rstrip()) and payload.get("content", text).strip() == text.strip()
    )
    if is_there and title in (None, found.entry.title):
        return found
    raise Conflict(
        f"The entry {target_id} was changed since, so it is unknown whether this was applied before.",
        key="target_changed",
    )


async def change_of(
    journal: Journal, target_id: str | None, payload: Mapping[str, Any]
) -> tuple[Found, str | None, str | None]:
    """(entry, its new text, its new title); errors: InvalidInput, NotFound."""
    if target_id is None:
        raise InvalidInput("target_id: update needs the id of an entry.", key="target_missing")
    found = await journal.get(target_id)
    content, title = _text(found.entry, payload), payload.get("title")
    if content is None and title is None:
        raise InvalidInput("payload: it changes nothing.", key="changes_nothing")
    return found, content, title


def _text(entry: Entry, payload: Mapping[str, Any]) -> str | None:
    content, append = payload.get("content"), payload.get("append")
    if append is None:
        return content
    if content is not None:
        raise InvalidInput("append: give either the whole content or what is added to it.", key="two_contents")
    if not append.strip():
        raise InvalidInput("append: there is nothing to add.", key="nothing_to_append")
    return f"{entry.content}\n\n{append}" if entry.content else append


def _key(suggestion: str) -> str:
    """The idempotency key of a suggestion, which no request of an app has."""
    return f"suggestion {suggestion}"
