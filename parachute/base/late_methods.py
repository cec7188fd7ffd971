"""Methods of dataclasses that are compiled when they are first used."""

import builtins
import dataclasses
import sys
from collections.abc import Callable
from typing import Any


def compile_late() -> None:
    """Compile no method of a dataclass before it is used; for the classes that this process defines from now on.

    The standard library writes up to eight methods for each and compiles them one by one, which is a third of the
    processor time of the server's start: most of them are never called.
    """
    if sys.version_info < (3, 14):  # from then on it also gives them annotations
        dataclasses.exec = _execute  # type: ignore[attr-defined]


def _execute(text: str, names: dict[str, Any], result: dict[str, Any]) -> None:
    """Replace `exec` for `dataclasses`, which calls this with the text of a function that defines methods and returns them."""
    returned = text.rpartition("\n return ")[2]
    methods = [name.strip() for name in returned.strip("()").split(",") if name.strip()]

    def create(**values: Any) -> Any:
        compiling = _Text(text, names, values)
        late = tuple(_LateMethod(name, compiling, place) for place, name in enumerate(methods))
        return late if returned.startswith("(") else late[0]

    result["__create_fn__"] = create


class _Text:
    """The text of some methods, and they themselves once it is compiled."""

    __slots__ = ("_methods", "_names", "_text", "_values")

    def __init__(self, text: str, names: dict[str, Any], values: dict[str, Any]) -> None:
        self._text = text
        self._names = names
        self._values = values
        self._methods: tuple[Callable[..., Any], ...] | None = None

    def methods(self) -> tuple[Callable[..., Any], ...]:
        """Every method, in the order of the text."""
        if self._methods is None:
            result: dict[str, Any] = {}
            builtins.exec(self._text, self._names, result)  # noqa: S102 - as the standard library does
            made = result["__create_fn__"](**self._values)
            self._methods = made if isinstance(made, tuple) else (made,)
        return self._methods


class _LateMethod:
    """Stands in a class for a method, and puts that into its own place."""

    __slots__ = ("__name__", "__qualname__", "_place", "_text")

    def __init__(self, name: str, text: _Text, place: int) -> None:
        self.__name__ = name
        self._text = text
        self._place = place

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        method = self._text.methods()[self._place]
        for kind in (owner or type(instance)).__mro__:
            if kind.__dict__.get(self.__name__) is self:
                method.__qualname__ = f"{kind.__qualname__}.{self.__name__}"
                setattr(kind, self.__name__, method)
        return method.__get__(instance, owner)

    def __call__(self, *arguments: Any) -> Any:
        """Call the method, for what the standard library has wrapped around it."""
        return self._text.methods()[self._place](*arguments)
