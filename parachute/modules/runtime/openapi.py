"""The routes of installed modules in the API's own description."""

import re
from collections.abc import Iterable
from typing import Any

from parachute.modules.runtime.models import OfferedRoute

_PLACE = re.compile(r"\{(\w+)(?::path)?\}")
_READING = ("GET", "HEAD", "DELETE")


def paths(routes: Iterable[OfferedRoute]) -> dict[str, dict[str, Any]]:
    """The `paths` of OpenAPI for these routes."""
    found: dict[str, dict[str, Any]] = {}
    for route in routes:
        path = f"/api/{route.module}" + _PLACE.sub(r"{\1}", route.path).rstrip("/")
        found.setdefault(path, {})[route.method.lower()] = _operation(route)
    return found


def _operation(route: OfferedRoute) -> dict[str, Any]:
    places = set(_PLACE.findall(route.path))
    fields = dict(route.fields.get("properties", {}))
    required = set(route.fields.get("required", ()))
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": fields.pop(name, {"type": "string"})}
        for name in sorted(places)
    ]
    operation: dict[str, Any] = {
        "tags": [route.module],
        "summary": route.description.partition("\n")[0],
        "description": route.description,
        "responses": {"200": {"description": "What the module answers."}},
    }
    if route.method in _READING:
        parameters += [
            {"name": name, "in": "query", "required": name in required, "schema": schema}
            for name, schema in fields.items()
        ]
    elif fields:
        body = {"type": "object", "properties": fields, "required": sorted(required - places)}
        operation["requestBody"] = {"content": {"application/json": {"schema": body}}}
    return operation | ({"parameters": parameters} if parameters else {})
