"""Functions outside of the module's class, which the manifest names as `file:function`."""

import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any

from parachute.core.module import Module


def with_module(function: Callable[..., Any], module: Module) -> Callable[..., Any]:
    """The function with the module as its first argument, if that parameter is called `module`; otherwise as it is."""
    first = next(iter(inspect.signature(function).parameters), None)
    return MethodType(function, module) if first == "module" else function
