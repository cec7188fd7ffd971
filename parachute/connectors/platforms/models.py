"""Messages between a connector and the server, as JSON over their sockets.

From the connector to the server's socket: `POST /start`, which is answered with a `Start`; `POST /updates` with `Updates`, answered
when all of them are stored; `POST /state` with a `State`. From the server to the connector's socket: `PUT /messages/{key}` with an
`Outgoing`, answered with `Sent`; `POST /typing` with a `Chat`; `POST /identity`, answered with an `Identity`.
"""

from typing import Literal

from msgspec import Struct

ChatKind = Literal["private", "group"]
UpdateKind = Literal["message", "edited", "deleted", "button", "joined", "left", "moved"]
FileKind = Literal["picture", "voice", "audio", "document"]
StateKind = Literal["connecting", "connected", "waiting", "refused"]


class Chat(Struct, frozen=True, forbid_unknown_fields=True):
    """A conversation of the platform; `id` is the platform's, never a name.

    A topic of a group has an id of its own (`base/chat_ids`); `title` is then the group's, and `topic` the topic's, empty if unknown.
    """

    id: str
    kind: ChatKind
    title: str = ""
    topic: str = ""


class Sender(Struct, frozen=True, forbid_unknown_fields=True):
    """Sender of a message; `name` is chosen by them, and proves nothing."""

    id: str
    name: str = ""
    is_bot: bool = False


class File(Struct, frozen=True, forbid_unknown_fields=True):
    """A file that came or goes: `path` lies in the folder that both sides share; empty where `problem` says why it was not taken."""

    kind: FileKind
    name: str
    media_type: str
    size: int
    path: str = ""
    problem: str = ""


class Button(Struct, frozen=True, forbid_unknown_fields=True):
    """A button below a message; `value` comes back in an update of kind `button`, at most 60 bytes."""

    label: str
    value: str


class Quote(Struct, frozen=True, forbid_unknown_fields=True):
    """The message that another answers: the part of it that was marked, or its beginning, and who wrote it."""

    author: str
    text: str


class Update(Struct, frozen=True, forbid_unknown_fields=True):
    """Something that happened on the platform. `id` is unique there and the same when it is handed over again.

    `message`: the platform's id of the message that was written, edited, deleted or had the button. `seconds`: since 1970, by the
    platform's clock. `is_for_bot`: it mentions the bot or answers it. `button`: the value of what was pressed. `quote`: what it
    answers, unless that is the bot's own. `moved_to`: the id that the chat has from now on, for kind `moved`.
    """

    id: str
    kind: UpdateKind
    chat: Chat
    sender: Sender
    seconds: float
    message: str = ""
    text: str = ""
    is_for_bot: bool = False
    files: tuple[File, ...] = ()
    button: str = ""
    quote: Quote | None = None
    moved_to: str = ""


class Updates(Struct, frozen=True, forbid_unknown_fields=True):
    """Updates in their order, and where the platform goes on after them; what that is, only the platform knows."""

    updates: tuple[Update, ...]
    position: str = ""


class Start(Struct, frozen=True, forbid_unknown_fields=True):
    """Configuration with which a connector begins, kept only in its memory. `language`: of the computer's own sentences."""

    token: str
    position: str = ""
    server: str = ""
    user: str = ""
    language: str = "en"


class State(Struct, frozen=True, forbid_unknown_fields=True):
    """State of the connection to the platform; `sentence` says why it waits or was refused, and never holds the token."""

    kind: StateKind
    sentence: str = ""
    name: str = ""


class Outgoing(Struct, frozen=True, forbid_unknown_fields=True):
    """Message as it should be shown now: the same key sent again changes what is there and never writes a second one.

    `markdown` is the whole text so far; the connector renders, splits and streams it as its platform can. `is_final` False: more
    follows, and it may be shown as a draft or not at all. `answers`: the platform's id of the message that this replies to.
    `is_continued`: it goes on with a reply, and is shown where that is without being one itself.
    """

    chat: Chat
    markdown: str
    is_final: bool = True
    answers: str = ""
    files: tuple[File, ...] = ()
    buttons: tuple[Button, ...] = ()
    is_continued: bool = False

    def replies_to(self, index: int) -> str:
        """Return the message to which the part with this index is a reply; empty for none."""
        return self.answers if index == 0 and not self.is_continued else ""


class Sent(Struct, frozen=True, forbid_unknown_fields=True):
    """The platform's ids of the messages that show it; none yet for a draft. `problem`: a refusal that another try does not mend."""

    messages: tuple[str, ...] = ()
    problem: str = ""


class Identity(Struct, frozen=True, forbid_unknown_fields=True):
    """Identity of the bot on its platform."""

    id: str
    name: str
