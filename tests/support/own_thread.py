"""A function of the whole process that is another one in the thread of a test: servers of other tests run beside it."""

import threading
from collections.abc import Callable
from typing import Any


def here(instead: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function that is `instead` in the thread that calls this one, and `otherwise` in all others."""
    own = threading.get_ident()

    def chosen(*arguments: Any, **named: Any) -> Any:
        return (instead if threading.get_ident() == own else otherwise)(*arguments, **named)

    return chosen
