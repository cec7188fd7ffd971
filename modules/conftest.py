"""Lets the tests of several modules run in one process, each as its author runs it.

Every module has a `module.py`, and each is imported under its plain name. Before anything of a module is imported or run, the
imports of the others are put aside, and come back with their own tests.
"""

import sys
from pathlib import Path
from types import ModuleType

import pytest

_ROOT = Path(__file__).resolve().parent


class Imports:
    """Imports of the module whose tests run, and those put aside of each other one."""

    def __init__(self) -> None:
        self._at_work: str | None = None
        self._aside: dict[str, tuple[list[str], dict[str, ModuleType]]] = {}

    def switch_to(self, path: Path) -> None:
        """Bring back what the module to which the path belongs has imported; a path of none changes nothing."""
        owner = _owner(path)
        if owner is None or owner == self._at_work:
            return
        if self._at_work is not None:
            self._aside[self._at_work] = _taken(self._at_work)
        places, imported = self._aside.pop(owner, ([], {}))
        sys.path[:0] = places
        sys.modules.update(imported)
        self._at_work = owner


def _owner(path: Path) -> str | None:
    """The name of the module's folder in which a path lies."""
    inside = path.relative_to(_ROOT).parts if path.is_relative_to(_ROOT) else ()
    return inside[0] if inside and (_ROOT / inside[0]).is_dir() else None


def _taken(owner: str) -> tuple[list[str], dict[str, ModuleType]]:
    """Take what belongs to a module out of the search path and out of what is imported."""
    places = [place for place in sys.path if _owner(Path(place)) == owner]
    sys.path[:] = [place for place in sys.path if place not in places]
    imported = {name: found for name, found in sys.modules.items() if _owner(_place(found)) == owner}
    for name in imported:
        del sys.modules[name]
    return places, imported


def _place(module: ModuleType) -> Path:
    file = getattr(module, "__file__", None)
    folders = list(getattr(module, "__path__", ()))
    return Path(file or (folders[0] if folders else "/"))


_imports = Imports()


@pytest.hookimpl(tryfirst=True)
def pytest_plugin_registered(plugin: object, plugin_name: str) -> None:
    """A module's conftest.py was found: those in its folders follow."""
    _imports.switch_to(Path(plugin_name))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(collector: pytest.Collector):  # type: ignore[no-untyped-def]
    """Before a folder's conftest.py or a test file is imported."""
    _imports.switch_to(collector.path)
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item):  # type: ignore[no-untyped-def]
    """Before a test, which may import something as well."""
    _imports.switch_to(item.path)
    return (yield)
