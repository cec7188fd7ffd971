"""Output of a reading: what is found goes to a sink, one thing after the other."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from imports.reading.conversation import Conversation
from imports.reading.entries import JournalEntry
from imports.reading.places import Places

Found = dict[str, Any]
"""One thing with how far the reading is: `kind`, `conversation` with `messages` and `attachments`, `file` with `content`, `entry` with `media`, `suggestion`, `skipped`,
`left_out`, `error` or `archived`."""

Sink = Callable[[Found], None]


class Output:
    """Tells a sink what is found, and waits until it was taken; `known` are the sessions that are there already."""

    def __init__(self, sink: Sink, known: set[str], progress: Callable[[], float], places: Places) -> None:
        self.known = known
        self._places = places
        self._sink = sink
        self._progress = progress

    def file(self, parts: Sequence[str], content: Iterable[bytes], time: str | None) -> None:
        """Hand on a file; what it holds is read by whoever takes it."""
        self.say(file={"parts": list(parts), "time": time}, content=iter(content))

    def entry(self, found: JournalEntry) -> None:
        """Hand on an entry of a journal with its files."""
        self.say(entry=found.document(), media=found.media)

    def conversation(self, found: Conversation) -> None:
        """Hand on a conversation, unless there is nothing in it, or it is there already."""
        found.settle()
        if not found.messages and not found.stated:
            self.say(left_out={**found.left_out, "empty_conversations": 1})
            return
        place = self._places.place(found)
        if place.is_here:
            self.say(skipped=place.session)
            return
        head = {
            "session": place.session,
            "source": found.source,
            "original": f"{found.original}:{found.branch}" if found.branch else found.original,
            "title": found.title,
            "created": found.created,
            "updated": found.updated,
            "archived": found.archived,
            "messages": len(found.messages) or found.stated,
            "labels": found.labels,
            "fingerprint": place.fingerprint,
            "documents": found.documents,
            **({"grows": place.new} if place.new else {}),
            **({"beside": True} if place.is_beside else {}),
        }
        messages = [
            {"role": each.role, "text": each.text, "time": each.time, "model": each.model, "id": each.id}
            | ({"files": [file.name for file in each.files]} if each.files else {})
            for each in found.messages
        ]
        attachments = {name: file.read() for name, file in found.files.items()}
        self.say(conversation=head, messages=messages, attachments=attachments, left_out=found.left_out)

    def say(self, **found: Any) -> None:
        """Hand on one thing; nothing for counts of nothing."""
        if isinstance(counts := found.get("left_out"), dict):
            found["left_out"] = {what: count for what, count in counts.items() if count}
        if any(found.values()):
            self._sink({**found, "progress": self._progress()})
