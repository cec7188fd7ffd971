"""Settings that are gone: what an earlier version has let people write neither stops this one nor does anything."""

from collections.abc import Mapping
from typing import Any

REMOVED = frozenset({"meaning.folder"})
"""Names of settings that a version had and this one has not; others that are unknown are mistakes."""


def removed_in(document: Mapping[str, Any]) -> list[str]:
    """Return the names of those that a document sets."""
    return sorted(name for name in REMOVED if _parent(document, name) is not None)


def without_removed(document: Mapping[str, Any], changing: str | None = None) -> dict[str, Any]:
    """Return a document without them; what is about to be set, by its name, stays to be complained of."""
    kept = dict(document)
    for name in removed_in(document):
        if changing and f"{name}.".startswith(f"{changing}."):
            continue
        *groups, last = name.split(".")
        inner = kept
        for group in groups:
            inner[group] = inner = dict(inner[group])
        del inner[last]
    return kept


def _parent(document: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """Return the mapping that has the last part of a name, None where there is none."""
    found: Any = document
    *groups, last = name.split(".")
    for group in groups:
        found = found.get(group) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) and last in found else None
