"""Fixtures that many tests share."""

import gc
import shutil
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex

import pytest

from parachute.sandbox.engines.views import unavailable
from tests.support.computer import Computer
from tests.support.fork_server import shared_forks
from tests.support.installation import Installation
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI
from tests.support.server import Server
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give long tests longer than others until they count as hung: each starts dozens of programs, on a busy machine too."""
    seconds: Counter[Path] = Counter()
    count: Counter[Path] = Counter()
    for item in items:
        if not item.get_closest_marker("long") and not item.get_closest_marker("computer"):
            continue
        count[item.path] += 1
        if (timeout := item.get_closest_marker("timeout")) is None:
            item.add_marker(pytest.mark.timeout(LONG_SECONDS))
        else:
            seconds[item.path] = max(seconds[item.path], timeout.args[0])
    # Guests begin first, then files that say how long they may take, then large ones: else one worker ends long after the others.
    items.sort(key=lambda item: (not item.get_closest_marker("guest"), -seconds[item.path], -count[item.path]))


_LOGGED_BYTES = 4_000


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the ends of the logs of every installation beside a failure: they are gone when somebody asks why."""
    report = yield
    if report.failed:
        for installation in Installation.running:
            for log in sorted(installation.home.logs.glob("*.log")):
                said = log.read_bytes()[-_LOGGED_BYTES:].decode(errors="replace")
                report.sections.append((f"{installation.folder.name} {log.name}", said))
            report.sections.append((f"{installation.folder.name} units", installation.restarted_units()))
    return report


# What is collected stays until the end: looking through it again and again would take a tenth of the time.
gc.disable()


def pytest_collection_finish() -> None:
    """Take what was collected out of the sight of the garbage collector, which then has little to look through."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def _collected() -> Iterator[None]:
    """Collect garbage after each file, so that unclosed files fail the right one: the garbage collector would tell of it in any later test."""
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
def make_computer(api: MessagesAPI) -> Iterator[Make[Computer]]:
    """Start computers for one test."""
    with ExitStack() as made:
        yield Make(Computer, api, made)


@pytest.fixture(scope="module")
def make_shared_computer(model: MessagesAPI) -> Iterator[Make[Computer]]:
    """Start computers for all tests of a file."""
    with ExitStack() as made:
        yield Make(Computer, model, made)


@pytest.fixture
def make_server(api: MessagesAPI) -> Iterator[Make[Server]]:
    """Start servers for one test."""
    with ExitStack() as made:
        yield Make(Server, api, made)


@pytest.fixture(scope="module")
def make_shared_server(model: MessagesAPI) -> Iterator[Make[Server]]:
    """Start servers for all tests of a file."""
    with ExitStack() as made:
        yield Make(Server, model, made)


@pytest.fixture
def computer(make_computer: Make[Computer]) -> Computer:
    """A computer for one test."""
    return make_computer()


@pytest.fixture
def word() -> str:
    """A word that no other test uses, for the names of what it makes on a shared server."""
    return f"w{token_hex(6)}"


@pytest.fixture
def parachute() -> Iterator[Terminal]:
    """The command, in a home where nothing was set yet; directly below /tmp, because its sockets have room for 107 bytes."""
    folder = Path(tempfile.mkdtemp(prefix="pcli", dir="/tmp"))
    yield Terminal(folder, shared_forks())
    shutil.rmtree(folder)
