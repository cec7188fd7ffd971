"""Changes that somebody proposed: what they would make of an entry, and taking them back as long as it is still so."""

import contextlib
from collections.abc import Mapping
from typing import Any

from daily.days.day import Entry
from daily.journal.documents import checked_content, checked_title, entry_version
from daily.journal.names import checked_date
from daily.journal.service import Journal
from daily.journal.suggestions import change_of
from parachute.core import Conflict, NotFound, Preview


async def preview(journal: Journal, action: str, target_id: str | None, payload: Mapping[str, Any]) -> Preview:
    """An entry before a change and after it; errors: those of the change."""
    if action == "create":
        date = checked_date(payload["date"]) if payload.get("date") else journal.today()
        heading = f"{date} {checked_title(payload.get('title', ''))}".rstrip()
        return Preview(heading, None, _text(heading, checked_content(payload["content"])), {})
    found, content, title = await change_of(journal, target_id, payload)
    entry = found.entry
    text = entry.content if content is None else checked_content(content)
    named = entry.title if title is None else checked_title(title)
    keep = {"title": entry.title, "content": entry.content}
    return Preview(f"{found.date} {entry.title}".rstrip(), _text(entry.title, entry.content), _text(named, text), keep)


async def undo(journal: Journal, action: str, target_id: str | None, keep: Mapping[str, Any], result: Any) -> None:
    """Take a change back; error: Conflict when the entry was changed since."""
    if not isinstance(result, Mapping):
        raise Conflict("The change to undo is no longer known.", "Change it back by hand.", key="nothing_kept")
    made = entry_version(result.get("title", ""), result.get("content", ""))
    if action == "create":
        with contextlib.suppress(NotFound):
            await journal.delete(result["id"], expected_version=made)
        return
    found = await journal.get(str(target_id))
    if not _is_as(found.entry, keep):
        await journal.update(str(target_id), keep["content"], keep["title"], expected_version=made)


def _is_as(entry: Entry, keep: Mapping[str, Any]) -> bool:
    return (entry.title, entry.content) == (keep["title"], keep["content"])


def _text(title: str, content: str) -> str:
    return f"# {title}\n\n{content}\n" if title else f"{content}\n"
