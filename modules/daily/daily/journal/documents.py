"""Entries as others see them."""

import hashlib
import re
from typing import Any

from daily.days.day import Entry
from daily.journal.index import Found
from daily.journal.names import ROOT
from parachute.core import InvalidInput
from parachute.core.interfaces import JournalEntry

LONGEST_CONTENT = 1_000_000
LONGEST_TITLE = 300
_TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")
_LEGACY = 6
_LINE_ENDS = re.compile(r"\r\n?")
_ONE_LINE = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


def id_of(key: str) -> str:
    """The para-id of an entry; ids from before modules had names have none in them, plain Markdown has no id."""
    if not key:
        return ""
    return f"para:{key}" if len(key) == _LEGACY else f"para:daily:{key}"


def document_of(found: Found) -> dict[str, Any]:
    """The HTTP answer for an entry; `fields` is what else the file's frontmatter says of it."""
    entry = found.entry
    document: dict[str, Any] = {
        "id": id_of(entry.key) or None,
        "date": found.date,
        "time": _time(entry),
        "title": entry.title,
        "content": entry.content,
        "version": version_of(entry),
        "type": str(entry.fields.get("type") or "text"),
        "path": found.path,
        "audio_path": audio_of(entry),
        "mentions": mentions_of(entry),
        "fields": dict(entry.fields),
    }
    if found.snippet is not None:
        document["snippet"] = found.snippet
    return document


def found_document(found: Found) -> dict[str, Any]:
    """The same for an entry that was searched for, with how it was found."""
    return {**document_of(found), "found_by": "meaning" if found.by_meaning else "words"}


def version_of(entry: Entry) -> str:
    """Another text when the title or the text of an entry is another one, and the same when it is linked."""
    return entry_version(entry.title, entry.content)


def entry_version(title: str, content: str) -> str:
    """The version of an entry with this title and text."""
    return hashlib.sha256(f"{title}\n{content}".encode(errors="replace")).hexdigest()


def journal_entry(found: Found) -> JournalEntry:
    """An entry for other modules."""
    entry = found.entry
    return JournalEntry(
        id=id_of(entry.key),
        date=found.date,
        content=entry.content,
        title=entry.title,
        time=_time(entry),
        path=found.path,
        audio_path=audio_of(entry),
    )


def audio_of(entry: Entry) -> str | None:
    """The recording of an entry as a path within the vault; files have it within the folder of the journal."""
    audio = entry.fields.get("audio")
    if not isinstance(audio, str) or not audio:
        return None
    return audio if audio.startswith(f"{ROOT}/") else f"{ROOT}/{audio}"


def mentions_of(entry: Entry) -> list[str]:
    """The para-ids that an entry mentions."""
    mentions = entry.fields.get("mentions")
    return [str(each) for each in mentions] if isinstance(mentions, list) else []


def checked_content(text: str, *, empty: bool = False) -> str:
    """The text of an entry with plain line ends; error: InvalidInput when it is empty, too long or no text."""
    text = _LINE_ENDS.sub("\n", text)
    lines = text.split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    text = "\n".join(lines).rstrip()
    if not text and not empty:
        raise InvalidInput("content: an entry needs a text.", key="content_empty")
    return _checked(text, "content", LONGEST_CONTENT)


def checked_title(text: str) -> str:
    """A title on one line; error: InvalidInput."""
    return _checked(_ONE_LINE.sub(" ", text).strip(), "title", LONGEST_TITLE)


def _checked(text: str, field: str, longest: int) -> str:
    if len(text) > longest:
        raise InvalidInput(f"{field}: at most {longest:,} characters are allowed.", key="text_too_long")
    if "\0" in text:
        raise InvalidInput(f"{field}: the character NUL is not allowed.", key="zero_character")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{field}: it has half of a character (a lone surrogate).", key="half_a_character"
        ) from error
    return text


def _time(entry: Entry) -> str | None:
    for text in (entry.fields.get("created"), entry.title):
        if isinstance(text, str) and _TIME.fullmatch(text):
            return text
    return None
