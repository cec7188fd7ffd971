"""Tests that share a server or a computer have their own data: one that writes what another test wrote there fails."""

import os
from collections.abc import Generator
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest

from tests.support.installation import Installation

_Found = dict[Path, tuple[int, ...]]

FOLDERS = {"Projects": 2, ".modules": 2}
"""Places in which a test owns whole folders, and the depth of these: whoever works there reads all that is in them."""

COMMON = (".mcp.json", "Daily/journals/*.md")
"""Files that a vault has once, or once a day."""

UNCHECKED = {
    Path(__file__).parent.parent / name
    for name in ("attacks", "browser", "connectors", "documentation", "flow", "modules", "official", "ops", "server")
}
"""Tests that have not been looked at yet: whoever gives them data of their own takes their folder out of here."""

_before: WeakKeyDictionary[Installation, _Found] = WeakKeyDictionary()
_writers: WeakKeyDictionary[Installation, dict[Path, str]] = WeakKeyDictionary()


def _look() -> None:
    _before.clear()
    _before.update({each: _files(each.vault) for each in Installation.running})


def _files(vault: Path) -> _Found:
    """The files that persons, modules and agents write: not what the computer keeps for itself, which has names of its own."""
    found: _Found = {}
    for place, folders, names in os.walk(vault):
        folder = Path(place).relative_to(vault)
        if folder == Path(".parachute"):
            folders[:] = [each for each in folders if each == "workspaces"]
            continue
        if folder == Path(".claude"):
            folders[:] = [each for each in folders if each != "projects"]
        for name in names:
            try:
                status = Path(place, name).lstat()
            except FileNotFoundError:
                continue
            found[folder / name] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Look at what runs before a test: it is shared."""
    _look()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(request: pytest.FixtureRequest) -> Generator[None, object, object]:
    """Count what a fixture of many tests writes as there from the beginning."""
    result = yield
    if request.scope != "function":
        _look()
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that wrote what another one wrote before."""
    collisions = [] if UNCHECKED.intersection(item.path.parents) else _collisions(item.nodeid)
    result = yield
    if collisions:
        pytest.fail(f"{collisions} on the same server: name it with the fixture `word`.", pytrace=False)
    return result


def _collisions(test: str) -> list[str]:
    found = {}
    for shared, before in _before.items():
        now = _files(shared.vault) if shared in Installation.running else before
        writers = _writers.setdefault(shared, {})
        for path in {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}:
            if any(map(path.match, COMMON)):
                continue
            owned = Path(*path.parts[: FOLDERS.get(path.parts[0])])
            found[owned] = writers.setdefault(owned, test)
    return sorted(f"{owned} is written by {writer}, too," for owned, writer in found.items() if writer != test)
