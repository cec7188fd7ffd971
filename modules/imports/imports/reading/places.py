"""Places of conversations: a new session, or one that is here, which grows by what was said since it came."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from imports.reading.conversation import Conversation, Message
from imports.reading.documents import PART
from parachute.core.sessions import Brought, BroughtMessage, digest

AskBrought = Callable[[str], Brought | None]
"""Says what an import has brought of a session; None where no import brought it."""

NAMES = {
    "chatgpt": "ChatGPT",
    "claude": "Claude",
    "gemini": "Gemini",
    "librechat": "LibreChat",
    "lmstudio": "LM Studio",
    "openwebui": "Open WebUI",
}


@dataclass(slots=True)
class Place:
    """Session of a conversation; `new` counts the messages that are new in one that is here.

    `is_beside`: a new session, since somebody has gone on with that one here. `fingerprint` is that of its messages.
    """

    session: str
    fingerprint: str
    is_here: bool = False
    new: int = 0
    is_beside: bool = False


class Places:
    """Finds them: by the ids of messages, which are the same in every export, whichever branch was shown last."""

    def __init__(self, known: set[str], brought: AskBrought, fingerprints: dict[str, str]) -> None:
        self._known = known
        self._brought = brought
        self._fingerprints = fingerprints
        self._taken: set[str] = set()

    def place(self, found: Conversation) -> Place:
        """The place of a conversation, or of a branch, whose shown branch comes first."""
        if found.branch is None:
            self._taken.clear()
        beside, fingerprint = False, _fingerprint(found)
        for session in self._earlier(found):
            if self._fingerprints.get(session) == fingerprint:
                self._taken.add(session)
                return Place(session, fingerprint, is_here=True)
            brought = self._brought(session)
            if brought is None:
                if session == found.id:
                    return Place(session, fingerprint, is_here=True)
                continue
            new = _new(found, brought)
            if new is None:
                continue
            self._taken.add(session)
            if new == 0:
                return Place(session, fingerprint, is_here=True)
            if brought.is_untouched:
                self._fingerprints.pop(session, None)  # it may be in this export twice
                return Place(session, fingerprint, new=new)
            beside = True
            break
        if found.id in self._known and found.branch is None:
            found.branch = (found.path or [str(len(found.messages))])[-1]
            name = NAMES.get(found.source, "the other computer")
            found.title = f"{found.title or 'A conversation'} ({f'continued in {name}' if beside else 'newer branch'})"
        session = found.id_of(found.branch)
        if session in self._known:
            return Place(session, fingerprint, is_here=True)
        self._known.add(session)
        self._taken.add(session)
        return Place(session, fingerprint, is_beside=beside)

    def _earlier(self, found: Conversation) -> Iterator[str]:
        """Sessions that an earlier export may have brought of it: branches that ended on its way, then the conversation."""
        if found.id not in self._known and found.id_of(None) not in self._known:
            return
        ends = found.path or [str(number) for number in range(1, len(found.messages) + 1)]
        for session in [*(found.id_of(end) for end in reversed(ends)), found.id_of(None)]:
            if session in self._known and session not in self._taken:
                yield session


def _fingerprint(found: Conversation) -> str:
    made = hashlib.sha256()
    for message in found.messages:
        said = [message.id, message.role, message.text, *(file.name for file in message.files)]
        made.update("".join(f"{each}\0" for each in said).encode(errors="replace"))
    return made.hexdigest()[:32]


def _new(found: Conversation, brought: Brought) -> int | None:
    """Count messages that are not here yet, and those that have changed; None where what is here is another branch."""
    on_path, spoken = set(found.path), {message.id for message in found.messages}
    # What says nothing any more is on the way all the same; a document has moved to where it changed last.
    here = [
        each
        for each in brought.messages
        if each.id is None or each.id in spoken or each.id.partition(PART)[0] not in on_path
    ]
    is_newer = bool(found.updated and (not brought.updated or found.updated > brought.updated))
    place = new = changed = 0
    for message in found.messages:
        if place < len(here) and _is_same(here[place], message):
            is_changed = is_newer and here[place].digest != digest(message.text)
            # Imported before files came along, or from an export without them.
            changed += is_changed or len(message.files) > here[place].files
            place += 1
        else:
            new += 1
    if place == len(here):
        return new + changed
    # An older export has nothing that is not here.
    return 0 if new == 0 else None


def _is_same(here: BroughtMessage, message: Message) -> bool:
    if here.id and message.id:
        return here.id == message.id
    # Imported before ids were kept.
    is_at_once = here.time is not None and here.time == message.time
    return here.role == message.role and (is_at_once or here.digest == digest(message.text))
