"""Reading of what a connector hands over, which is untrusted: a message may have taken it over."""

import re
from typing import Any, TypeVar

from msgspec import Struct, convert

from parachute.base.errors import InvalidInput
from parachute.connectors.platforms.models import File, Identity, Sent, State, Update, Updates

Record = TypeVar("Record", bound=Struct)

UPDATES = 100
_ID = 255
_NAME = 400
_TEXT = 200_000
_FILES = 20
_PATH = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,120}")
_SECONDS = 1e11


def read_updates(document: Any) -> Updates:
    """Read updates; error: InvalidInput naming what is wrong."""
    updates = _record(Updates, document)
    if len(updates.updates) > UPDATES:
        raise InvalidInput(f"updates: at most {UPDATES} are taken at once.", key="too_many_updates")
    _short("position", updates.position, _TEXT)
    for update in updates.updates:
        _check(update)
    return updates


def read_state(document: Any) -> State:
    """Read a state; error: InvalidInput."""
    state = _record(State, document)
    _short("sentence", state.sentence, 2_000)
    _short("name", state.name, _NAME)
    return state


def read_sent(document: Any) -> Sent:
    """Read what was sent; error: InvalidInput."""
    sent = _record(Sent, document)
    if len(sent.messages) > 1_000:
        raise InvalidInput("messages: there are too many.", key="too_many_messages")
    for message in sent.messages:
        _short("messages", message, _ID)
    _short("problem", sent.problem, 2_000)
    return sent


def read_identity(document: Any) -> Identity:
    """Read who the bot is; error: InvalidInput."""
    identity = _record(Identity, document)
    _short("id", identity.id, _ID)
    _short("name", identity.name, _NAME)
    return identity


def _check(update: Update) -> None:
    for field, text in (("id", update.id), ("chat", update.chat.id), ("sender", update.sender.id)):
        if not text:
            raise InvalidInput(f"{field}: required to identify an update.", key="update_unidentified")
        _short(field, text, _ID)
    _short("message", update.message, _ID)
    _short("title", update.chat.title, _NAME)
    _short("name", update.sender.name, _NAME)
    _short("text", update.text, _TEXT)
    _short("button", update.button, _ID)
    _short("topic", update.chat.topic, _NAME)
    _short("moved_to", update.moved_to, _ID)
    if (update.kind == "moved") != bool(update.moved_to):
        raise InvalidInput("moved_to: goes with updates of kind moved, and with no others.", key="moved_to_invalid")
    if update.quote:
        _short("quote.author", update.quote.author, _NAME)
        _short("quote.text", update.quote.text, _NAME)
    if not 0 <= update.seconds < _SECONDS:
        raise InvalidInput("seconds: not a duration.", key="duration_invalid")
    if len(update.files) > _FILES:
        raise InvalidInput(f"files: at most {_FILES} come with one message.", key="too_many_files")
    for file in update.files:
        _check_file(file)


def _check_file(file: File) -> None:
    _short("name", file.name, _NAME)
    _short("media_type", file.media_type, _ID)
    _short("problem", file.problem, 2_000)
    if file.path and not _PATH.fullmatch(file.path):
        raise InvalidInput("path: the plain name of a file in the shared folder is expected.", key="path_invalid")
    if not file.path and not file.problem:
        raise InvalidInput("path: it is missing, and nothing says why.", key="path_missing")
    if not 0 <= file.size < 1 << 40:
        raise InvalidInput("size: not a size in bytes.", key="size_invalid")


def _record(kind: type[Record], document: Any) -> Record:
    try:
        return convert(document, kind)
    except ValueError as error:
        raise InvalidInput(f"This is not a valid {kind.__name__}: {error}.", key="record_invalid") from error


def _short(field: str, text: str, most: int) -> None:
    if len(text) > most:
        raise InvalidInput(f"{field}: it is longer than {most:,} characters.", key="text_too_long")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidInput(
            f"{field}: it holds half a character, which no file and no database takes.", key="half_a_character"
        )
