"""The shapes of tools' answers that can be judged: where their records are, and what tells place, kind and day of one."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

ENTRY = "entry"
"""The kind of journal entries, beside those of entities."""

CONVERSATION = "conversation"

FILE = "file"
"""The kind of files that are neither."""


class Shape(Struct, frozen=True):
    """The records of an answer: all of it, or what stands under `named`; only their `fields` pass.

    The kind is `kind`, or what a record says as its type; `day` is the field with its day. Its place is its path, or of
    conversations the workspace of what stands under `id`. `asked` is the number to ask for where some may be kept back.
    """

    fields: tuple[str, ...]
    named: str | None = None
    kind: str | None = None
    day: str | None = None
    asked: int | None = None


_ENTRY = ("id", "date", "time", "title", "content", "path", "found_by")

SHAPES: Mapping[str, Shape] = MappingProxyType(
    {
        "brain-search": Shape(("para_id", "name", "type", "aliases", "tags", "path", "snippet", "found_by"), asked=50),
        # How sure it is would tell whether there are others of that name.
        "brain-resolve": Shape(("para_id", "name", "type", "path"), named="candidates"),
        # Names that are in no note would tell which are in notes that are kept back.
        "brain-suggest": Shape(("text", "para_id", "name", "type", "path"), named="mentions"),
        "daily-search": Shape(_ENTRY, kind=ENTRY, day="date", asked=50),
        "daily-today": Shape(_ENTRY, kind=ENTRY, day="date"),
        "chat-sessions": Shape(("id", "para_id", "title", "updated_at"), kind=CONVERSATION, day="updated_at", asked=50),
    }
)
"""By the name of the tool; what other tools answer is for grants alone that keep nothing back."""

SUGGESTED: Mapping[str, tuple[str, str]] = MappingProxyType({"daily-create": ("daily", "create")})
"""Tools that write, with the module and the action of the suggestion that comes of a call; others that write are not offered."""
