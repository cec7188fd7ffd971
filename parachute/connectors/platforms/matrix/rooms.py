"""Rooms of the bot: which of them are private, which are encrypted, and what they and their people are called."""

from collections import OrderedDict
from typing import Any

from msgspec import Struct

from parachute.connectors.platforms.matrix.api import CLIENT, Api, is_missing
from parachute.connectors.platforms.matrix.problems import Problem, TooLarge
from parachute.connectors.platforms.matrix.reading import ROOM, USER, events, identifier, mapping, text
from parachute.connectors.platforms.models import Chat, ChatKind, Sender
from parachute.connectors.platforms.texts import clean

DIRECT = "m.direct"
_NAME = 200
MOST_DIRECT = 3
"""Private rooms with one person."""

_ROOMS, _PEOPLE = 500, 2_000


class About(Struct, frozen=True):
    """A room as it is now; `other` is who else is in a private one."""

    id: str
    kind: ChatKind
    title: str = ""
    is_encrypted: bool = False
    other: str = ""

    def chat(self, title: str = "") -> Chat:
        """The room in the words of the protocol."""
        return Chat(self.id, self.kind, self.title or title)


class Rooms:
    """Asks the home server, and remembers until something changes. Errors of all: ConnectionError, Problem, Refused.

    Private is what the account's own list of direct chats (m.direct) has, until a third person is in it or invited to it.
    """

    def __init__(self, api: Api, user: str) -> None:
        self._api = api
        self._user = user
        self._direct: dict[str, list[str]] = {}
        self._known: OrderedDict[str, About] = OrderedDict()
        self._names: OrderedDict[tuple[str, str], str] = OrderedDict()

    async def begin(self) -> None:
        """Read the list of direct chats."""
        try:
            self.listed(await self._api.ask("GET", f"{CLIENT}/user", self._user, "account_data", DIRECT))
        except Problem as problem:
            if not is_missing(problem):
                raise

    def listed(self, content: Any) -> None:
        """Take over the list of direct chats, by user."""
        found = {
            identifier(USER, user): [room for each in rooms if (room := identifier(ROOM, each))]
            for user, rooms in mapping(content).items()
            if isinstance(rooms, list)
        }
        found.pop("", None)
        if found != self._direct:
            self._direct = found
            self._known.clear()

    def direct_with(self, user: str) -> list[str]:
        """The private rooms with somebody."""
        return list(self._direct.get(user, ()))

    def is_direct(self, room: str) -> bool:
        """True for a room that was meant to be private, whoever is in it by now."""
        return any(room in rooms for rooms in self._direct.values())

    async def add_direct(self, room: str, user: str) -> None:
        """Enter a room in the list, before it is joined: afterwards nobody would know that it was meant to be private."""
        if room not in self._direct.get(user, ()):
            await self._save({**self._direct, user: [*self._direct.get(user, ()), room]})

    async def remove_direct(self, room: str) -> None:
        """Take a room off the list that the bot is in no more."""
        kept = {user: [each for each in rooms if each != room] for user, rooms in self._direct.items()}
        if kept != self._direct:
            await self._save({user: rooms for user, rooms in kept.items() if rooms})

    async def about(self, room: str) -> About:
        """Return the state of a room."""
        if (known := self._known.get(room)) is not None:
            return known
        is_encrypted = bool(await self._state(room, "m.room.encryption"))
        found = About(room, "group", is_encrypted=is_encrypted)
        if self.is_direct(room):
            found = await self._private(found)
        if found.kind == "group":
            found = About(room, "group", await self._title(room), is_encrypted)
        self._known[room] = found
        if len(self._known) > _ROOMS:
            self._known.popitem(last=False)
        return found

    def changed(self, room: str) -> None:
        """Ask anew: somebody has come or gone, or the room is called or encrypted otherwise."""
        self._known.pop(room, None)

    def named(self, room: str, event: dict[str, Any]) -> None:
        """Note what somebody calls themselves in a room."""
        user = identifier(USER, event.get("state_key"))
        name = clean(text(mapping(event, "content").get("displayname")), _NAME)
        if not user:
            return
        self._names[(room, user)] = name
        self._names.move_to_end((room, user))
        if len(self._names) > _PEOPLE:
            self._names.popitem(last=False)

    def sender(self, room: str, user: str, *, is_bot: bool = False) -> Sender:
        """Somebody in a room."""
        return Sender(user, self._names.get((room, user)) or user, is_bot)

    async def settle(self, room: str) -> None:
        """Have a room count as private into which the bot has just come, and in which there is one other person alone."""
        if self.is_direct(room):
            return
        others = await self._others(room)
        if len(others) == 1 and len(self.direct_with(other := others.pop())) < MOST_DIRECT:
            await self.add_direct(room, other)

    async def _private(self, about: About) -> About:
        """The room as a private one. Once others have come it never is again: they know what was written there."""
        others = await self._others(about.id)
        if len(others) > 1:
            await self.remove_direct(about.id)
            return about
        return About(about.id, "private", "", about.is_encrypted, next(iter(others), ""))

    async def _others(self, room: str) -> set[str]:
        """Return the members and invited people of a room, without the bot."""
        query = {"not_membership": "leave"}
        try:
            found = await self._api.ask("GET", f"{CLIENT}/rooms", room, "members", query=query)
        except TooLarge:
            return {"", room}  # thousands, whoever they are
        people = set()
        for event in events(found.get("chunk")):
            self.named(room, event)
            if mapping(event, "content").get("membership") in ("join", "invite"):
                people.add(text(event.get("state_key")))
        return people - {self._user}

    async def _title(self, room: str) -> str:
        name = text((await self._state(room, "m.room.name")).get("name"))
        if not name:
            name = text((await self._state(room, "m.room.canonical_alias")).get("alias"))
        return clean(name, _NAME)

    async def _state(self, room: str, kind: str) -> dict[str, Any]:
        try:
            return await self._api.ask("GET", f"{CLIENT}/rooms", room, "state", kind, "")
        except Problem as problem:
            if is_missing(problem):
                return {}
            raise

    async def _save(self, direct: dict[str, list[str]]) -> None:
        await self._api.ask("PUT", f"{CLIENT}/user", self._user, "account_data", DIRECT, body=direct)
        self.listed(direct)
