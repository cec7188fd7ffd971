"""One computer for all attacks that leave it as it was: whoever changes it for others has a fixture of the same name."""

from collections.abc import Iterator
from secrets import token_hex

import pytest

from parachute.security.keys.models import Scope
from parachute.security.keys.service import Keys
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI


@pytest.fixture(scope="package")
def _shared() -> Iterator[tuple[MessagesAPI, Computer]]:
    with MessagesAPI() as service, Computer(environment=service.credentials) as running:
        yield service, running


@pytest.fixture
def api(_shared: tuple[MessagesAPI, Computer]) -> Iterator[MessagesAPI]:
    """The scripted model service of the shared computer, for one test."""
    with _shared[0].lent() as service:
        yield service


@pytest.fixture
def computer(_shared: tuple[MessagesAPI, Computer], api: MessagesAPI) -> Computer:
    """The shared computer."""
    return _shared[1]


def key_for_chats(computer: Computer) -> str:
    """The secret of a key without admin rights."""
    keys = Keys(computer.home.root)
    try:
        return keys.create(f"phone {token_hex(4)}", [Scope.parse("chat:read,write")])[1]
    finally:
        keys.close()
