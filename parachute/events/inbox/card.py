"""An item in words, and the kind that finds them."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from parachute.base.answers import Answer as Shown
from parachute.base.plain import plain_lines

if TYPE_CHECKING:
    from parachute.events.inbox.models import Item

_MOST = 120
WHOLE = 5_000
"""Characters of a name that is not cut: a host, a path."""

LABELS = {
    "allow": "Allow",
    "answer": "Answer",
    "approve": "Approve",
    "deny": "Refuse",
    "reject": "Reject",
}


class Choice(Shown, frozen=True):
    """One answer: its word, the words of its button, and the sentence once it was given."""

    answer: str
    label: str
    done: str


class Card(Struct, frozen=True):
    """The sentence of an item, and a choice for each of its answers, in their order."""

    sentence: str
    choices: tuple[Choice, ...] = ()


class Kind(Struct, frozen=True):
    """Knowledge about all items of one kind.

    `lines` makes the details readable, all of them, since an answer covers them; `lets_in` tells that a yes lets code or
    instructions in, so that a browser's needs its owner's confirmation.
    """

    card: Callable[["Item"], Card]
    lines: Callable[[Mapping[str, Any]], list[str]] = plain_lines
    lets_in: bool = False


def kind(
    *, lines: Callable[[Mapping[str, Any]], list[str]] = plain_lines, lets_in: bool = False
) -> Callable[[Callable[["Item"], Card]], Kind]:
    """Make a kind of the function that writes its cards."""
    return lambda card: Kind(card, lines, lets_in)


def words(item: "Item", sentence: str, **done: str | tuple[str, str]) -> Card:
    """Make a card; for each answer the sentence once it was given, and before it the words of its button where they are its own."""
    choices = []
    for answer in item.answers:
        found = done[answer.replace("-", "_")]
        label, said = found if isinstance(found, tuple) else (LABELS[answer], found)
        choices.append(Choice(answer, label, said))
    return Card(sentence, tuple(choices))


def name(value: object, most: int = _MOST) -> str:
    """Text of others as a part of a sentence: one line of at most `most` printable characters."""
    text = "".join(each for each in " ".join(str(value).split()) if each.isprintable())
    return (text if len(text) <= most else f"{text[: most - 1]}…") or "(without a name)"


def titled(value: object) -> str:
    """A title in quotation marks."""
    return f"“{name(value)}”"


def asker(item: "Item") -> str:
    """Name the asker: the agent of a workspace, or that of a conversation by its title."""
    workspace = item.details.get("workspace")
    return f"The agent of {name(workspace)}" if workspace else f"The agent in {titled(item.source)}"


def listed(label: str, values: object) -> list[str]:
    """A line that names things, none where there are none."""
    found = [name(each, WHOLE) for each in values] if isinstance(values, list | tuple) else []
    return [f"{label}: {', '.join(found)}"] if found else []


def files(found: object) -> list[str]:
    """A line for each file with its hash."""
    return [
        f"{name(each['path'], WHOLE)}  sha256:{each['sha256']}{'  executable' if each.get('executable') else ''}"
        for each in (found if isinstance(found, list | tuple) else ())
    ]


def difference(details: Mapping[str, Any]) -> list[str]:
    """The lines of one changed file."""
    note = [str(details["note"])] if details.get("note") else []
    return [*note, *str(details.get("diff") or "").splitlines(), *files(details.get("files"))]
