"""One computer for all tests of runs that do not disturb each other, and a new one for those that do."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from parachute.base.files import atomic_write
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI


@pytest.fixture(scope="session")
def _shared() -> Iterator[tuple[MessagesAPI, Computer]]:
    with MessagesAPI() as service:
        shared = Computer(environment=service.credentials)
        # No memory: what one test's conversation leaves would warn and inform those of the next ones.
        atomic_write(shared.home.root / "hooks.yaml", "hooks: []\n")
        with shared as running:
            yield service, running


@pytest.fixture
def api(_shared: tuple[MessagesAPI, Computer]) -> Iterator[MessagesAPI]:
    """The scripted model service of the shared computer; what a test left in its script is gone for the next one."""
    service = _shared[0]
    service.forget_script()
    yield service
    service.forget_script()


@pytest.fixture
def computer(_shared: tuple[MessagesAPI, Computer], api: MessagesAPI) -> Computer:
    """A computer that is shared with other tests."""
    return _shared[1]


@pytest.fixture
def own_api() -> Iterator[MessagesAPI]:
    """A scripted model service for one test."""
    with MessagesAPI() as service:
        yield service


MakeComputer = Callable[..., Computer]


@pytest.fixture
def make_computer(own_api: MessagesAPI) -> Iterator[MakeComputer]:
    """Start a computer for one test, with settings and further environment."""
    made: list[Computer] = []

    def make(environment: dict[str, str] | None = None, **settings: Any) -> Computer:
        base = own_api.credentials
        made.append(Computer(settings=settings, environment={**base, **(environment or {})}))
        made[-1].start()
        return made[-1]

    yield make
    for computer in made:
        computer.__exit__(None, None, None)


@pytest.fixture
def own_computer(make_computer: MakeComputer) -> Computer:
    """A computer for one test."""
    return make_computer()
