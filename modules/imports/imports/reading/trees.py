"""The branches of a conversation: messages that know the one before them, of which one is the last that was shown."""

from collections.abc import Iterator, Mapping

BRANCHES = 50
_NODES = 500_000


def branches(parents: Mapping[str, str | None], current: str | None) -> Iterator[list[str]]:
    """Paths of nodes from the beginning to an end, the current one first; loops end where they close, holes where they begin.

    A branch that has no node of its own is not among them. Together they have half a million nodes at the most.
    """
    inner = {parent for parent in parents.values() if parent is not None}
    # The newest last, as exports have them.
    leaves = [node for node in parents if node not in inner]
    if current not in parents:
        current = next(reversed(leaves or [*parents]), None)
    if current is None:
        return
    seen = set[str]()
    left = _NODES
    for number, leaf in enumerate([current, *(each for each in leaves if each != current)]):
        if number > BRANCHES or left <= 0:
            return
        path = _path(parents, leaf)
        left -= len(path)
        if number == 0 or not seen.issuperset(path):
            seen.update(path)
            yield path


def count(parents: Mapping[str, str | None]) -> int:
    """The number of ends."""
    inner = {parent for parent in parents.values() if parent is not None}
    return sum(node not in inner for node in parents)


def _path(parents: Mapping[str, str | None], leaf: str) -> list[str]:
    path: dict[str, None] = {}
    node: str | None = leaf
    while node is not None and node in parents and node not in path:
        path[node] = None
        node = parents[node]
    return list(reversed(path))
