"""Modules that run when a name is asked of them for the first time."""

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any


def late_module(name: str, **places: str) -> None:
    """Let a module run only when a name is asked of it; the parts of a package can be imported without.

    `places` are names for which it need not run, with the modules that have them. One that was imported before stays.
    """
    if name in sys.modules:
        return
    spec = find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    loader = spec.loader
    module = module_from_spec(spec)

    def find(attribute: str) -> Any:
        if place := places.get(attribute):
            return getattr(import_module(place), attribute)
        if attribute == "__path__":  # every import asks a module whether it is a package
            raise AttributeError(attribute)
        if module.__dict__.pop("__getattr__", None) is not None:
            loader.exec_module(module)
        return getattr(module, attribute)

    module.__dict__["__getattr__"] = find
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)
