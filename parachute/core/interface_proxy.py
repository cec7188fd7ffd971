"""The proxy of an interface: a module in another process, called through the server."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from parachute.base.errors import InvalidInput
from parachute.core.connection import Connection
from parachute.core.errors import ModuleError
from parachute.core.interfaces import KNOWN, methods_of, result_of
from parachute.core.signature import Signature
from parachute.core.values import convert, encode

SECONDS = 60.0


class InterfaceProxy:
    """Its methods are awaited, take positions or names, and raise the errors of `parachute.base.errors` that the provider raised.

    Interfaces of `parachute.core.interfaces` return their dataclasses, those of other modules plain JSON values.
    """

    def __init__(self, name: str, methods: Mapping[str, tuple[str, ...]], connection: Connection) -> None:
        self._name = name
        self._methods = methods
        self._connection = connection
        self._known = methods_of(KNOWN[name]) if name in KNOWN else {}

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method not in self._methods:
            offered = ", ".join(sorted(self._methods)) or "nothing"
            raise AttributeError(f"{self._name} as it is provided now has no method {method}; it has {offered}.")

        async def call(*positions: Any, **named: Any) -> Any:
            document = {
                "interface": self._name,
                "method": method,
                "arguments": self._arguments(method, positions, named),
            }
            answer = await self._connection.request("POST", "/interface", document, seconds=SECONDS)
            if not isinstance(answer, dict) or "result" not in answer:
                raise ModuleError(f"{self._name}.{method} gave no result.", key="no_result")
            return self._result(method, answer["result"])

        call.__name__ = method
        return call

    def __repr__(self) -> str:
        return f"<{self._name}>"

    def _arguments(self, method: str, positions: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        if known := self._known.get(method):
            signature = Signature.of(known, skip=1)
            plain: dict[str, Any] = json.loads(encode(signature.positional(positions, named)))
            # A wrong argument is the caller's mistake, and seen here, where the traceback leads to it.
            signature.bind(plain, strict=True)
            return plain
        names = self._methods[method]
        if len(positions) > len(names) or set(named) & set(names[: len(positions)]):
            raise TypeError(f"{self._name}.{method} takes ({', '.join(names)})")
        values: dict[str, Any] = json.loads(encode({**dict(zip(names, positions, strict=False)), **named}))
        return values

    def _result(self, method: str, result: Any) -> Any:
        if method not in self._known:
            return result
        try:
            return convert(result, result_of(self._known[method]), "result", strict=False)
        except InvalidInput as error:
            raise ModuleError(
                f"{self._name}.{method} gave what the interface does not allow: {error.message}",
                key="result_not_allowed",
            ) from error
