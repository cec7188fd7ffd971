"""Versions of messages: what stands at the same place in the branches of a conversation."""

import asyncio
from collections.abc import Iterable

from parachute.base.answers import Answer
from parachute.chat.sessions.models import Session
from parachute.chat.sessions.service import Sessions
from parachute.chat.sessions.store import SessionStore
from parachute.chat.sessions.transcript import LINE_LIMIT, open_file

_MOST = 100
"""Branches of one family that are looked at, the newest."""


class Version(Answer, frozen=True):
    """A message, and the conversation that has it; of several the newest."""

    message: str
    session: str


class VersionPoint(Answer, frozen=True, rename="camel"):
    """The messages at one place, the oldest first; `is_again`: all have the same words, and each has an answer of its own."""

    versions: list[Version]
    is_again: bool


class MessageVersions(Answer, frozen=True):
    """The places of a conversation at which its branches have other messages."""

    points: list[VersionPoint]


class Versions:
    """Finds the versions of messages."""

    def __init__(self, sessions: Sessions, store: SessionStore) -> None:
        self._sessions = sessions
        self._store = store

    async def of(self, session: str) -> MessageVersions:
        """The places at which a conversation and its branches differ; error: NotFound."""
        shown = await self._sessions.get(session)
        family = [each for each in await self._store.family(shown.family, _MOST) if each.id != session]
        if not family and shown.branch is None:
            return MessageVersions([])
        members = [shown, *family]
        points = _points(members)
        wanted = {message for messages, _ in points for message in messages}
        held = await asyncio.to_thread(lambda: {each.id: self._held(each, wanted) for each in members})
        found = []
        for messages, is_again in points:
            versions = [
                Version(message, each)
                for message in messages
                if (each := next((member.id for member in members if message in held[member.id]), None)) is not None
            ]
            if len(versions) > 1 and any(version.session == session for version in versions):
                found.append(VersionPoint(versions, is_again))
        return MessageVersions(found)

    def _held(self, session: Session, wanted: Iterable[str]) -> set[str]:
        """Choose the messages that a conversation has."""
        transcripts = self._sessions.transcripts
        found = {session.branch.message} if session.branch else set()
        left = {message: message.encode() for message in wanted if message not in found}
        for path in (transcripts.imported(session.id), transcripts.find(session.id)):
            file = open_file(path) if path else None
            if file is None:
                continue
            with file:
                while left and (line := file.readline(LINE_LIMIT)):
                    here = {message for message, name in left.items() if name in line}
                    found |= here
                    left = {message: name for message, name in left.items() if message not in here}
        return found


def _points(members: Iterable[Session]) -> list[tuple[list[str], bool]]:
    """The messages that stand in the place of one another, the oldest first, and if all have the same words."""
    points: dict[str, tuple[list[str], list[bool]]] = {}
    for member in sorted(members, key=lambda each: each.created_at):
        if branch := member.branch:
            point = points.setdefault(branch.replaced, ([branch.replaced], []))
            point[0].append(branch.message)
            point[1].append(branch.is_again)
            points[branch.message] = point
    unique = {id(point): point for point in points.values()}
    return [(messages, all(again)) for messages, again in unique.values()]
