"""Families of branches in lists: of the versions of one conversation the newest stands for all."""

from collections.abc import Iterable

import msgspec
from msgspec import Struct


class Member(Struct, frozen=True):
    """A conversation that has branches, or is one."""

    id: str
    family: str
    archived: bool
    pinned: bool
    workspace: str | None


class _Named(Struct):
    id: str


class Families:
    """All members of families, the newest first."""

    def __init__(self, members: Iterable[Member]) -> None:
        self._members = {each.id: each for each in members}

    def older(self, *, archived: bool, workspace: str | None, pinned: bool) -> dict[str, list[str]]:
        """The older versions, by the newest one, of the families that have several in a list."""
        families: dict[str, list[str]] = {}
        for each in self._members.values():
            if each.archived is archived and workspace in (None, each.workspace) and (each.pinned or not pinned):
                families.setdefault(each.family, []).append(each.id)
        return {newest: others for newest, *others in families.values() if others}

    def family(self, session: str) -> str:
        """The family of a conversation; one without branches is its own."""
        member = self._members.get(session)
        return member.family if member else session

    def first_of_each(self, summaries: list[str]) -> list[str]:
        """The projections without those whose family has one before them."""
        if not self._members:
            return summaries
        kept: dict[str, str] = {}
        for summary in summaries:
            kept.setdefault(self.family(name_of(summary)), summary)
        return list(kept.values())


def name_of(summary: str) -> str:
    """The id in a projection."""
    return msgspec.json.decode(summary, type=_Named).id


def with_versions(summaries: list[str], older: dict[str, list[str]]) -> list[str]:
    """Add to each projection the ids of the older versions that it stands for."""
    if not older:
        return summaries
    shown = []
    for summary in summaries:
        versions = older.get(name_of(summary))
        shown.append(f'{summary[:-1]},"versions":{msgspec.json.encode(versions).decode()}}}' if versions else summary)
    return shown
