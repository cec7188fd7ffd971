"""One server for all tests of runs that do not disturb each other, and a new one, or a computer, for those that do."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import pytest

from parachute.base.files import atomic_write
from tests.support.computer import Computer
from tests.support.installation import Installation
from tests.support.messages_api import MessagesAPI
from tests.support.server import Server

Kind = TypeVar("Kind", bound=Installation)


@pytest.fixture(scope="session")
def _shared() -> Iterator[tuple[MessagesAPI, Server]]:
    with MessagesAPI() as service:
        shared = Server(environment=service.credentials)
        # No memory: what one test's conversation leaves would warn and inform those of the next ones.
        atomic_write(shared.home.root / "hooks.yaml", "hooks: []\n")
        with shared as running:
            yield service, running


@pytest.fixture
def api(_shared: tuple[MessagesAPI, Server]) -> Iterator[MessagesAPI]:
    """The scripted model service of the shared server; what a test left in its script is gone for the next one."""
    service = _shared[0]
    service.forget_script()
    yield service
    service.forget_script()


@pytest.fixture
def server(_shared: tuple[MessagesAPI, Server], api: MessagesAPI) -> Server:
    """A server that is shared with other tests."""
    return _shared[1]


@pytest.fixture
def own_api() -> Iterator[MessagesAPI]:
    """A scripted model service for one test."""
    with MessagesAPI() as service:
        yield service


MakeComputer = Callable[..., Computer]
MakeServer = Callable[..., Server]


def _making(kind: type[Kind], credentials: dict[str, str]) -> Iterator[Callable[..., Kind]]:
    made: list[Kind] = []

    def make(environment: dict[str, str] | None = None, **settings: Any) -> Kind:
        made.append(kind(settings=settings, environment={**credentials, **(environment or {})}))
        made[-1].start()
        return made[-1]

    yield make
    for each in made:
        each.__exit__(None, None, None)


@pytest.fixture
def make_server(own_api: MessagesAPI) -> Iterator[MakeServer]:
    """Start a server for one test, with settings and further credentials."""
    yield from _making(Server, own_api.credentials)


@pytest.fixture
def make_computer(own_api: MessagesAPI) -> Iterator[MakeComputer]:
    """Start a computer for one test, with settings and further environment."""
    yield from _making(Computer, own_api.credentials)


@pytest.fixture
def own_computer(make_computer: MakeComputer) -> Computer:
    """A computer for one test."""
    return make_computer()
