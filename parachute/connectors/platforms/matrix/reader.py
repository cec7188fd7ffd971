"""Reading: the home server is asked what has happened since, which is handed over, and only then is asked for more."""

import json
import logging
from collections.abc import Iterable
from typing import Any

from parachute.connectors.platforms.matrix.api import CLIENT, Api
from parachute.connectors.platforms.matrix.calls import Calls
from parachute.connectors.platforms.matrix.invites import Invites
from parachute.connectors.platforms.matrix.messages import Messages
from parachute.connectors.platforms.matrix.position import Position
from parachute.connectors.platforms.matrix.problems import Problem, RateLimited, TooLarge
from parachute.connectors.platforms.matrix.reading import ROOM, events, identifier, mapping, text
from parachute.connectors.platforms.matrix.rooms import DIRECT, Rooms
from parachute.connectors.platforms.matrix.translation import (
    ENCRYPTED,
    ENCRYPTION,
    MEMBER,
    MESSAGE,
    REACTION,
    REDACTION,
    own_membership,
)
from parachute.connectors.platforms.models import State, Update, Updates
from parachute.connectors.platforms.platform import HandOver, Refused, Report
from parachute.connectors.platforms.texts import clean

log = logging.getLogger("parachute.connector")

POLL_SECONDS = 30
_READ_SECONDS = 30.0
_TIMELINE = 50
_QUIET = 100
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
_LONGEST_PAUSE = 300.0
_STATE = (MEMBER, ENCRYPTION, "m.room.name", "m.room.canonical_alias")
_TYPES = (MESSAGE, REACTION, REDACTION, ENCRYPTED, *_STATE)
_BAD_REQUEST = 400


class Reader:
    """Asks until cancelled; error: Refused."""

    def __init__(
        self,
        api: Api,
        rooms: Rooms,
        calls: Calls,
        messages: Messages,
        position: Position,
        user: str,
        hand_over: HandOver,
        report: Report,
    ) -> None:
        self._api = api
        self._rooms = rooms
        self._calls = calls
        self._messages = messages
        self._position = position
        self._user = user
        self._hand_over = hand_over
        self._report = report
        self._invites = Invites(api, rooms, user)
        self._timeline = _TIMELINE
        self._quiet = 0
        self._wait = _FIRST_WAIT

    async def run(self) -> None:
        """Take what comes."""
        # The first question is answered at once, so that it is known whether there is a connection.
        seconds = 0
        while True:
            try:
                answer = await self._ask(seconds)
                await self._take(answer)
                await self._report(self._connected())
                self._timeline, self._wait, seconds = _TIMELINE, _FIRST_WAIT, POLL_SECONDS
            except TooLarge:
                if self._timeline == 1:
                    raise
                self._timeline = max(1, self._timeline // 8)
            except (ConnectionError, Problem) as error:
                await self._wait_after(error)
                seconds = 0

    async def _ask(self, seconds: int) -> dict[str, Any]:
        query = {"timeout": str(seconds * 1000), "filter": self._filter()}
        if self._position.since:
            query["since"] = self._position.since
        found = await self._api.ask("GET", f"{CLIENT}/sync", query=query, seconds=seconds + _READ_SECONDS, waits=False)
        if not text(found.get("next_batch")):
            raise ConnectionError("The home server returned no position to continue from.")
        return found

    def _filter(self) -> str:
        timeline = self._timeline if self._position.since else 1
        nothing: dict[str, Any] = {"types": []}
        return json.dumps(
            {
                "presence": nothing,
                "account_data": {"types": [DIRECT]},
                "room": {
                    "account_data": nothing,
                    "ephemeral": nothing,
                    "state": {"types": _STATE, "lazy_load_members": True, "include_redundant_members": True},
                    "timeline": {"types": _TYPES, "limit": timeline, "lazy_load_members": True},
                },
            }
        )

    async def _take(self, answer: dict[str, Any]) -> None:
        """Hand over what an answer has; of the first one nothing, since it was before there was a bot."""
        since, behind = self._position.since, str(answer["next_batch"])
        for event in events(mapping(answer, "account_data").get("events")):
            if event.get("type") == DIRECT:
                self._rooms.listed(event.get("content"))
        for room, about in mapping(answer, "rooms", "invite").items():
            if identifier(ROOM, room):
                self._invites.add(room, mapping(about, "invite_state"))
        await self._invites.follow()
        updates: list[Update] = []
        for section in ("join", "leave") if since else ():
            for room, found in mapping(answer, "rooms", section).items():
                if identifier(ROOM, room):
                    updates += await self._of_room(room, mapping(found), since, is_there=section == "join")
        self._position.since = behind
        self._quiet += 1
        if updates or not since or self._quiet >= _QUIET:
            # A position is written to a disk: those of quiet hours need not be.
            self._quiet = 0
            await self._hand_over(Updates(tuple(updates), self._position.text()))

    async def _of_room(self, room: str, found: dict[str, Any], since: str, *, is_there: bool) -> list[Update]:
        state = events(mapping(found, "state").get("events"))
        happened = mapping(found, "timeline")
        timeline, begins = events(happened.get("events")), text(happened.get("prev_batch"))
        came = _came(timeline, self._user)
        try:
            # Of what is known of people first, so that what they wrote has a name.
            self._messages.know(room, state)
            if happened.get("limited") is True and begins and is_there and came is None:
                await self._catch_up(room, since, begins)
            # What was written before the bot came was not written to it.
            return await self._of_events(room, timeline[came:])
        except Problem as problem:
            log.warning("What happened in a room could not be read: %s", problem)
            return []

    async def _catch_up(self, room: str, since: str, until: str) -> None:
        """Hand over what the answer left out of a room, piece by piece."""
        came = await self._calls.joined_between(room, since, until)
        while since:
            state, found, behind = await self._calls.between(room, since, until)
            self._messages.know(room, state)
            if came:
                ids = [event.get("event_id") for event in found]
                found = found[ids.index(came) :] if came in ids else []
                came = "" if found else came
            if updates := await self._of_events(room, found):
                await self._hand_over(Updates(tuple(updates), ""))
            since = behind if behind not in (since, until) else ""

    async def _of_events(self, room: str, found: Iterable[dict[str, Any]]) -> list[Update]:
        updates: list[Update] = []
        for event in found:
            try:
                updates += await self._messages.of(room, event)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                # One that nobody understands must not hold up all that follow.
                log.error("An event is dropped (%s)", type(error).__name__)
        return updates

    def _connected(self) -> State:
        rooms = self._position.encrypted
        sentence = ""
        if rooms:
            some = ", ".join(rooms[-3:]) + (" and others" if len(rooms) > 3 else "")
            sentence = f"Encrypted, and therefore not read: {some}. Talk to the bot in a room without encryption."
        return State("connected", sentence, self._user)

    async def _wait_after(self, error: Exception) -> None:
        """Report why nothing comes, and wait; of a question that is the same each time no refusal is for good."""
        if isinstance(error, Problem) and error.status == _BAD_REQUEST and self._position.since:
            log.error("The home server has lost its position; only new messages are read.")
            self._position.since = ""
            return
        await self._report(State("waiting", str(error), self._user))
        await self._api.clock.sleep(
            min(error.seconds, _LONGEST_PAUSE) if isinstance(error, RateLimited) else self._wait
        )
        self._wait = min(2 * self._wait, _LONGEST_WAIT)


def _came(timeline: list[dict[str, Any]], user: str) -> int | None:
    """Return the index in a timeline at which the bot has last joined the room; None if it was there before."""
    return max((at for at, event in enumerate(timeline) if own_membership(event, user) == "join"), default=None)


async def introduced(api: Api, report: Report) -> str:
    """Wait until the home server names the owner of the token, and return it; error: Refused."""
    wait = _FIRST_WAIT
    while True:
        try:
            return await whose(api)
        except (ConnectionError, Problem) as error:
            if elsewhere := await _elsewhere(api):
                raise Refused(f"The home server of this address is at {elsewhere}: enter that one.") from None
            await report(State("waiting", str(error)))
            await api.clock.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)


async def _elsewhere(api: Api) -> str:
    """Return the address of the home server, if a site names another one; nothing else is reached from here."""
    try:
        found = await api.ask("GET", "/.well-known/matrix/client", waits=False)
    except (ConnectionError, Refused):
        return ""
    address = text(mapping(found, "m.homeserver").get("base_url")).rstrip("/")
    return clean(address, 200) if address.startswith("https://") and address != api.server else ""


async def whose(api: Api) -> str:
    """Return the user of the token. Errors: ConnectionError, Problem, Refused."""
    found = await api.ask("GET", f"{CLIENT}/account/whoami")
    if not (user := text(found.get("user_id"))):
        raise ConnectionError("The home server does not name the account of the token.")
    return user
