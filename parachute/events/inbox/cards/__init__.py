"""The kinds of items. A file in this folder is a kind: its name is the kind's, and it has `card`."""

import importlib
import pkgutil
from functools import cache

from parachute.events.inbox.card import Kind


@cache
def kinds() -> dict[str, Kind]:
    """Every kind by its name."""
    found: dict[str, Kind] = {}
    for module in pkgutil.iter_modules(__path__):
        kind = importlib.import_module(f"{__name__}.{module.name}").card
        assert isinstance(kind, Kind)
        found[module.name] = kind
    return found
