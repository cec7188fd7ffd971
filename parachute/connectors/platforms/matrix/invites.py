"""Invitations: followed within bounds, since whoever knows the bot's name can send them."""

import logging
from collections import deque
from typing import Any

from msgspec import Struct

from parachute.connectors.platforms.matrix.api import CLIENT, Api
from parachute.connectors.platforms.matrix.problems import Problem, RateLimited
from parachute.connectors.platforms.matrix.reading import USER, events, identifier, mapping
from parachute.connectors.platforms.matrix.rooms import MOST_DIRECT, Rooms
from parachute.connectors.platforms.matrix.translation import MEMBER

log = logging.getLogger("parachute.connector")

_JOINS, _JOIN_SECONDS = 60, 600.0
_JOIN_WAIT = 20.0
_TRIES = 3
_REMEMBERED = 50


class _Invite(Struct, frozen=True):
    room: str
    by: str
    is_direct: bool


class Invites:
    """Joins rooms. Which home server is to be asked for one is not the bot's choice, so that one that does not answer is given up."""

    def __init__(self, api: Api, rooms: Rooms, user: str) -> None:
        self._api = api
        self._rooms = rooms
        self._user = user
        self._open: dict[str, tuple[_Invite, int]] = {}
        self._joined: deque[float] = deque()

    def add(self, room: str, state: Any) -> None:
        """Note an invitation."""
        for event in events(mapping(state).get("events")):
            content = mapping(event, "content")
            is_own = event.get("type") == MEMBER and event.get("state_key") == self._user
            by = identifier(USER, event.get("sender"))
            if is_own and content.get("membership") == "invite" and by and len(self._open) < _REMEMBERED:
                self._open[room] = (_Invite(room, by, content.get("is_direct") is True), 0)

    async def follow(self) -> None:
        """Join what can be joined. Errors: ConnectionError where the bot's own server is away, Refused."""
        for room, (invite, tries) in list(self._open.items()):
            del self._open[room]
            if not self._may_join():
                log.warning("More than %d invitations came within ten minutes; the rest is not followed.", _JOINS)
                continue
            direct = self._rooms.direct_with(invite.by)
            try:
                if invite.is_direct and room not in direct and len(direct) >= MOST_DIRECT:
                    await self._api.ask("POST", f"{CLIENT}/rooms", room, "leave", body={})
                    continue
                if invite.is_direct:
                    await self._rooms.add_direct(room, invite.by)
                await self._api.ask("POST", f"{CLIENT}/join", room, body={}, seconds=_JOIN_WAIT, waits=False)
                self._rooms.changed(room)
            except Problem as problem:
                log.warning("An invitation could not be followed: %s", problem)
            except RateLimited:
                self._open[room] = (invite, tries)
            except ConnectionError as error:
                log.warning("An invitation could not be followed yet: %s", error)
                if tries + 1 < _TRIES:
                    self._open[room] = (invite, tries + 1)

    def _may_join(self) -> bool:
        now = self._api.clock.elapsed()
        while self._joined and self._joined[0] < now - _JOIN_SECONDS:
            self._joined.popleft()
        if len(self._joined) >= _JOINS:
            return False
        self._joined.append(now)
        return True
