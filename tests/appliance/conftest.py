"""One booted guest for all tests of a run; they are left out of runs that do not name this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from testinfra.host import Host

from tests.appliance.build_root import build, missing
from tests.appliance.guest import Guest

FOLDER = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Booting needs root and a large download at first: whoever wants it says so, as `make appliance` does."""
    named = [Path(config.invocation_params.dir, argument.partition("::")[0]).resolve() for argument in config.args]
    return None if any(path.is_relative_to(FOLDER) for path in named) else True


@pytest.fixture(scope="session")
def layers() -> tuple[Path, ...]:
    """The guest's root, built if need be."""
    if reason := missing():
        pytest.fail(reason, pytrace=False)
    return build()


@pytest.fixture(scope="session")
def guest(layers: tuple[Path, ...]) -> Iterator[Guest]:
    """The booted guest; tests clean up after themselves in it."""
    with Guest(layers) as booted:
        yield booted


@pytest.fixture(scope="session")
def host(guest: Guest) -> Host:
    """The guest as root, in testinfra's words."""
    return guest.root


@pytest.fixture(scope="session")
def user(guest: Guest) -> Host:
    """The guest as the user that Parachute runs as."""
    return guest.user
