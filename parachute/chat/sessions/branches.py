"""Branches of a conversation: what a person took back stands in the transcript still, and the model is not sent it any more."""

from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import Struct, field

from parachute.chat.sessions.events import BOUNDARY, Row
from parachute.chat.sessions.messages import user_text

_JUDGED = 200_000
_HIDDEN = 100_000
"""Lines that are not shown and may lie between two that are."""


class Mark(NamedTuple):
    """A shown line in the tree: its id, the one that it follows, the model's message that it is a part of, its calls and results.

    A person may have asked it; a root says that it follows none.
    """

    id: str | None
    parent: str | None
    message: str | None
    calls: tuple[str, ...]
    results: tuple[str, ...]
    is_asked: bool
    is_root: bool


class Tree(Struct):
    """The links between the lines of one file, as they are read, and where its program says that the conversation stands.

    It is not whole without the beginning of the file.
    """

    is_whole: bool = True
    leaf: tuple[str | None, bool] | None = None
    _others: OrderedDict[str, str | None] = field(default_factory=OrderedDict)

    def pass_over(self, row: Row) -> None:
        """Note a line that is not shown: what follows it follows the one before it."""
        if row.leaf is not None:
            self.leaf = row.leaf
        elif row.id is not None and row.is_linked and not row.is_aside:
            self._name(row.id, self.shown(row.parent))

    def mark(self, row: Row, event: dict[str, Any]) -> Mark:
        """The mark of a line that is shown."""
        if self.leaf is not None and (self.leaf[0] is None or event.get("subtype") == BOUNDARY):
            self.leaf = None
        elif self.leaf is not None:
            self.leaf = (self.leaf[0], False)  # whoever went there has gone on
        name, parent = event.get("uuid"), self.shown(row.parent)
        if row.id is not None and name != row.id:
            self._name(row.id, name)
        message = event.get("message", {})
        blocks = message["content"] if isinstance(message.get("content"), list) else []
        of = message.get("id") if event["type"] == "assistant" else None
        return Mark(
            name,
            parent,
            of if isinstance(of, str) else None,
            tuple(block["id"] for block in blocks if block["type"] == "tool_use"),
            tuple(block["tool_use_id"] for block in blocks if block["type"] == "tool_result"),
            event.get("isCompactSummary") is not True and user_text(event) is not None,
            row.is_linked and parent is None,
        )

    def shown(self, name: str | None) -> str | None:
        """The id of the shown line that stands for one."""
        return self._others.get(name, name) if name is not None else None

    def _name(self, name: str, shown: str | None) -> None:
        self._others[name] = shown
        if len(self._others) > _HIDDEN:
            self._others.popitem(last=False)


class Branches(Struct):
    """The branches of a file that is read from its beginning to its end; only of the newest lines, of very many."""

    tree: Tree = field(default_factory=Tree)
    marks: deque[Mark] = field(default_factory=lambda: deque(maxlen=_JUDGED))
    count: int = 0

    def add(self, row: Row) -> None:
        """Take the next row in."""
        if row.shown is None:
            self.tree.pass_over(row)
            return
        self.marks.append(self.tree.mark(row, row.shown[0]))
        self.count += 1

    def taken_back(self) -> set[int]:
        """The numbers of the shown lines that were taken back, counted from 0."""
        first = self.count - len(self.marks)
        self.tree.is_whole = first == 0
        return {first + place for place in taken_back(list(self.marks), self.tree)}


def taken_back(marks: Sequence[Mark], tree: Tree) -> set[int]:
    """The places of what is on no path to where the conversation stands, and of copies.

    As the agent's program has it: a path leads from a line to the one that it follows, and calls that the model made at once
    belong together. A line that does not tell follows the one above it.
    """
    if tree.leaf == (None, True):
        return set(range(len(marks)))
    places: dict[str, int] = {}
    copies: set[int] = set()
    for place, mark in enumerate(marks):
        if mark.id is not None and places.setdefault(mark.id, place) != place:
            copies.add(place)  # a compaction or a branch has written it once more
    # Other programs write lines that follow none.
    is_tree = any(mark.parent for mark in marks) and not any(mark.is_root and mark.message for mark in marks[1:])
    parents: list[int | None] = []
    for place, mark in enumerate(marks):
        # What a person said may follow what lies before all that was read.
        begins = place == 0 or (
            mark.is_asked and (is_tree if mark.is_root else not tree.is_whole and mark.parent is not None)
        )
        known = places.get(mark.parent) if mark.parent is not None else None
        parents.append(None if begins and known is None else place - 1 if known is None else known)
    newest = next((place for place in range(len(marks) - 1, -1, -1) if place not in copies), None)
    path = _path(parents, newest)
    leaf = places.get(tree.shown(tree.leaf[0]) or "") if tree.leaf is not None else None
    if tree.leaf is not None and leaf is not None and (tree.leaf[1] or leaf not in path):
        path = _path(parents, leaf)
    at_once = {marks[place].message for place in path} - {None}
    answered = {call for place in path for call in marks[place].results}
    calls = {call for mark in marks if mark.message in at_once for call in mark.calls} - answered
    return copies | {
        place
        for place, mark in enumerate(marks)
        if place not in path and mark.message not in at_once and not calls.intersection(mark.results)
    }


def _path(parents: Sequence[int | None], place: int | None) -> dict[int, None]:
    """The places on the way from one to the beginning, in this order."""
    path: dict[int, None] = {}
    while place is not None and place not in path:
        path[place] = None
        place = parents[place]
    return path
