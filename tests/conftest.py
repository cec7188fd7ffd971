"""Fixtures that many tests share."""

import gc
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from parachute.sandbox.engines.views import unavailable
from tests.support.computer import Computer
from tests.support.fork_server import shared_forks
from tests.support.messages_api import MessagesAPI
from tests.support.terminal import Terminal

needs_bubblewrap = pytest.mark.skipif(
    not shutil.which("bwrap"), reason="needs the system package bubblewrap: `make test-deps` installs it"
)


@pytest.fixture(scope="session")
def _views(tmp_path_factory: pytest.TempPathFactory) -> str | None:
    return unavailable(tmp_path_factory.mktemp("views"))


@pytest.fixture
def views_work(_views: str | None) -> None:
    """Skip where the file system of the tests cannot have copy-on-write views, such as an overlay."""
    if _views is not None:
        pytest.skip(_views)


LONG_SECONDS = 600


_ALL_LONG = re.compile(r"^pytestmark = .*\bpytest\.mark\.long\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of which every test is long where none is wanted: importing them takes each worker seconds."""
    if config.getoption("markexpr") != "not long" or collection_path.suffix != ".py":
        return None
    return _ALL_LONG.search(collection_path.read_text()) is not None or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give long tests longer than others until they count as hung: each starts dozens of programs, on a busy machine too."""
    seconds: Counter[Path] = Counter()
    count: Counter[Path] = Counter()
    for item in items:
        if not item.get_closest_marker("long"):
            continue
        count[item.path] += 1
        if (timeout := item.get_closest_marker("timeout")) is None:
            item.add_marker(pytest.mark.timeout(LONG_SECONDS))
        else:
            seconds[item.path] = max(seconds[item.path], timeout.args[0])
    if config.getoption("markexpr") == "long":
        # Files that say how long they may take begin first, then large ones: else one worker ends minutes after the other.
        items.sort(key=lambda item: (-seconds[item.path], -count[item.path]))


def pytest_collection_finish() -> None:
    """Take what was collected out of the sight of the garbage collector, which then has little to look through."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def _collected() -> Iterator[None]:
    """What a file leaves unclosed fails that file: the garbage collector would tell of it in any later test."""
    yield
    gc.collect()


@pytest.fixture
def api() -> Iterator[MessagesAPI]:
    """A scripted model service."""
    with MessagesAPI() as service:
        yield service


@pytest.fixture(scope="module")
def model() -> Iterator[MessagesAPI]:
    """A scripted model service for all tests of a file."""
    with MessagesAPI() as service:
        yield service


@pytest.fixture
def computer(api: MessagesAPI) -> Iterator[Computer]:
    """A computer whose model is `api`."""
    with Computer(environment=api.credentials) as running:
        yield running


@pytest.fixture
def parachute() -> Iterator[Terminal]:
    """The command, in a home where nothing was set yet; directly below /tmp, because its sockets have room for 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="pcli", dir="/tmp"))
    yield Terminal(folder, shared_forks())
    shutil.rmtree(folder)
