"""Moments of the console that no address leads to; each function of a file of scenes is one, by its name."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator

from playwright.sync_api import Page

from tests.browser.console.people import Person

Scene = Callable[[Person], Page]


def _found() -> Iterator[tuple[str, Scene]]:
    for file in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{file.name}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and list(inspect.signature(function).parameters) == ["person"]:
                yield name, function


SCENES: dict[str, Scene] = dict(_found())
