"""One server for all tests of runs that do not disturb each other, and a new one, or a computer, for those that do."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from parachute.base.files import atomic_write
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI
from tests.support.server import Server


@pytest.fixture(scope="session")
def shared() -> Iterator[tuple[MessagesAPI, Server]]:
    """The shared server and its model; a file whose tests need the real agent's program has another one."""
    yield from serving(real_agents=False)


def serving(*, real_agents: bool) -> Iterator[tuple[MessagesAPI, Server]]:
    """Serve, with the agent's program or the scripted one."""
    with MessagesAPI() as service:
        shared = Server(environment=service.credentials, real_agents=real_agents)
        # No memory: what one test's conversation leaves would warn and inform those of the next ones.
        atomic_write(shared.home.root / "hooks.yaml", "hooks: []\n")
        with shared as running:
            yield service, running


@pytest.fixture
def api(shared: tuple[MessagesAPI, Server]) -> Iterator[MessagesAPI]:
    """The scripted model service of the shared server; what a test left in its script is gone for the next one."""
    service = shared[0]
    service.forget_script()
    yield service
    service.forget_script()


@pytest.fixture
def server(shared: tuple[MessagesAPI, Server], api: MessagesAPI) -> Server:
    """A server that is shared with other tests."""
    return shared[1]


@pytest.fixture
def own_api() -> Iterator[MessagesAPI]:
    """A scripted model service for one test."""
    with MessagesAPI() as service:
        yield service


MakeComputer = Callable[..., Computer]
MakeServer = Callable[..., Server]


@pytest.fixture
def make_server(own_api: MessagesAPI) -> Iterator[MakeServer]:
    """Start a server for one test, with settings and further credentials, and perhaps with real agents."""
    with contextlib.ExitStack() as made:

        def make(environment: dict[str, str] | None = None, *, real_agents: bool = False, **settings: Any) -> Server:
            environment = {**own_api.credentials, **(environment or {})}
            return made.enter_context(Server(settings=settings, environment=environment, real_agents=real_agents))

        yield make


@pytest.fixture
def make_computer(own_api: MessagesAPI) -> Iterator[MakeComputer]:
    """Start a computer for one test, with settings and further environment."""
    with contextlib.ExitStack() as made:

        def make(environment: dict[str, str] | None = None, **settings: Any) -> Computer:
            environment = {**own_api.credentials, **(environment or {})}
            return made.enter_context(Computer(settings=settings, environment=environment))

        yield make


@pytest.fixture
def own_computer(make_computer: MakeComputer) -> Computer:
    """A computer for one test."""
    return make_computer()
