"""From a method and a path to the method of a module that answers."""

import dataclasses
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from parachute.base.errors import InvalidInput, NotFound, ParachuteError
from parachute.core.errors import ModuleError
from parachute.core.request import Request
from parachute.core.signature import Parameter, Signature
from parachute.core.values import convert, describe

_PLACE = re.compile(r"\{([A-Za-z_]\w*)(:path)?\}")
_NO_BODY = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Route:
    """One route; `expression` matches the encoded path, and `places` are the parameters in it."""

    method: str
    path: str
    function: Callable[..., Any]
    signature: Signature
    expression: re.Pattern[str]
    places: frozenset[str]

    @classmethod
    def of(cls, method: str, path: str, function: Callable[..., Any]) -> "Route":
        """Read a bound method; error: ModuleError for a place that no parameter takes, or a type JSON cannot carry."""
        signature = Signature.of(function)
        expression, places = _expression(path)
        for name in places - set(signature.names):
            raise ModuleError(
                f"{signature.name}: the path {path} has {{{name}}}, and no parameter takes it.",
                key="place_without_parameter",
            )
        sent = tuple(parameter for parameter in signature.parameters if not _is_special(parameter))
        dataclasses.replace(signature, parameters=sent).check()
        return cls(method, path, function, signature, re.compile(expression), frozenset(places))

    @property
    def rank(self) -> tuple[tuple[int, str], ...]:
        """Fixed parts come before places, and those before places that take slashes."""
        return tuple((2 if part.endswith(":path}") else 1 if "{" in part else 0, part) for part in self.path.split("/"))

    def describe(self) -> dict[str, Any]:
        """The description for callers: method, path, docstring, and a JSON schema of the parameters."""
        sent = tuple(parameter for parameter in self.signature.parameters if not _is_special(parameter))
        fields = dataclasses.replace(self.signature, parameters=sent).schema()
        return {
            "method": self.method,
            "path": self.path,
            "description": self.signature.description,
            "fields": fields,
        }

    async def arguments(self, request: Request, found: re.Match[str]) -> dict[str, Any]:
        """The arguments of a call: from the path, from the JSON body, from the query; error: InvalidInput naming the field."""
        arguments: dict[str, Any] = {}
        fields: dict[str, Any] = {}
        if request.method not in _NO_BODY and any(not self._settled(entry) for entry in self.signature.parameters):
            fields = await _fields(request)
        query = request.query
        for parameter in self.signature.parameters:
            name = parameter.name
            if parameter.kind is Request:
                arguments[name] = request
            elif name in self.places:
                arguments[name] = convert(unquote(found[name]), parameter.kind, name, text=True)
            elif name == "body":
                arguments[name] = await _body(request, parameter)
            elif name in fields:
                arguments[name] = convert(fields[name], parameter.kind, name)
            elif name in query:
                arguments[name] = convert(_query_value(query[name], parameter.kind), parameter.kind, name, text=True)
            elif parameter.required:
                raise InvalidInput(f"{name}: this is required ({describe(parameter.kind)}).", key="field_missing")
        if self.signature.rest:
            given = {name: values[-1] for name, values in query.items()} | fields
            arguments |= {name: value for name, value in given.items() if name not in self.signature.names}
        return arguments

    def _settled(self, parameter: Parameter) -> bool:
        return _is_special(parameter) or parameter.name in self.places


class Routes:
    """All routes of a module."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes = sorted(routes, key=lambda route: route.rank)
        seen: dict[tuple[str, str], Route] = {}
        for route in self._routes:
            key = (route.method, route.expression.pattern)
            if key in seen:
                raise ModuleError(
                    f"{route.method} {route.path} has two methods: {seen[key].signature.name} and {route.signature.name}.",
                    key="route_taken",
                )
            seen[key] = route

    def __iter__(self) -> Any:
        return iter(self._routes)

    def find(self, method: str, path: str) -> tuple[Route, re.Match[str]]:
        """The route for a request; errors: NotFound, ParachuteError (`method_not_allowed`, with `allow`)."""
        wanted = "GET" if method == "HEAD" else method
        allowed: list[str] = []
        for route in self._routes:
            if found := route.expression.fullmatch(path):
                if route.method == wanted:
                    return route, found
                allowed.append(route.method)
        if allowed:
            methods = ", ".join(sorted(set(allowed)))
            raise ParachuteError(
                f"{method} is not possible here; allowed: {methods}.",
                allow=methods,
                status=405,
                key="method_not_allowed",
            )
        raise NotFound(f"There is nothing at {unquote(path)[:200]}.", key="nothing_here")


def _expression(path: str) -> tuple[str, set[str]]:
    places: set[str] = set()
    expression, position = "", 0
    for match in _PLACE.finditer(path):
        if match[1] in places:
            raise ModuleError(f"route: {path} has {{{match[1]}}} twice.", key="place_twice")
        places.add(match[1])
        expression += re.escape(path[position : match.start()])
        expression += f"(?P<{match[1]}>{'.+' if match[2] else '[^/]+'})"
        position = match.end()
    rest = path[position:]
    if "{" in rest or "}" in rest:
        raise ModuleError(
            f"route: {path} has a brace that is no place; write {{name}} or {{name:path}}.", key="brace_without_place"
        )
    # A slash at the end makes no other route.
    return expression + re.escape(rest.rstrip("/")) + "/?", places


def _is_special(parameter: Parameter) -> bool:
    return parameter.kind is Request or (parameter.name == "body" and parameter.kind is bytes)


async def _fields(request: Request) -> dict[str, Any]:
    media_type = request.headers.get("content-type", "application/json").split(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        if await request.body():
            raise InvalidInput(
                "body: send JSON, with the header content-type: application/json.",
                status=415,
                key="unsupported_media_type",
            )
        return {}
    document = await request.json()
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise InvalidInput("body: a JSON object is expected.", key="body_not_an_object")
    return document


async def _body(request: Request, parameter: Parameter) -> Any:
    if parameter.kind is bytes:
        return await request.body()
    document = await request.json()
    if document is None and not parameter.required:
        return parameter.default
    return convert(document, parameter.kind, "body")


def _query_value(values: list[str], kind: Any) -> object:
    """All values for a list, the last one for everything else."""
    if kind is Any:
        return values[-1]
    try:
        convert([], kind, "")
    except InvalidInput:
        return values[-1]
    return values
