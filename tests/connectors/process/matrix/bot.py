"""Helpers for tests of the bot."""

from parachute.connectors.platforms.models import Chat, Update
from tests.connectors.connected import Server
from tests.support.matrix_api import People


def private(room: str) -> Chat:
    return Chat(room, "private")


def group(room: str) -> Chat:
    return Chat(room, "group")


async def stored(matrix: Server, update: str) -> Update:
    """An update as the server has it."""
    await matrix.happens(lambda: update in matrix.store.updates, "it is stored")
    return matrix.store.updates[update]


async def came(matrix: Server, api: People, room: str) -> Update:
    """The bot follows an invitation; what the server hears of it."""

    def found() -> Update | None:
        mine = (each for each in matrix.store.updates.values() if each.chat.id == room and each.kind == "joined")
        return next(mine, None)

    update: Update = await matrix.happens(found, "the bot has come")
    assert api.is_in(room)
    return update


async def talking(matrix: Server, api: People, user: str) -> str:
    """A private room with somebody."""
    room = api.direct(user)
    await came(matrix, api, room)
    return room


async def together(matrix: Server, api: People, user: str, *others: str) -> str:
    """A room with somebody and others."""
    room = api.group(user, "Family", *others)
    await came(matrix, api, room)
    return room


def texts(matrix: Server, room: str) -> list[str]:
    """The messages of a room as the server has them."""
    return [each.text for each in matrix.store.updates.values() if each.chat.id == room and each.kind == "message"]
