"""Keys and errors in the API's own description (`/openapi.json`), of which FastAPI does not know."""

from typing import Any

from parachute.web.access.cookies import PLAIN
from parachute.web.access.routing import needed

Schema = dict[str, Any]

_ERROR: Schema = {
    "type": "object",
    "description": "The form of every error.",
    "properties": {
        "detail": {"type": "string", "description": "What went wrong, as a sentence for a person."},
        "key": {"type": "string", "description": "A word that does not change, for programs."},
        "hint": {"type": ["string", "null"], "description": "What to do next."},
    },
    "required": ["detail", "key", "hint"],
}

_KEYS: Schema = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "`Authorization: Bearer KEY`"},
    "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "browser": {
        "type": "apiKey",
        "in": "cookie",
        "name": PLAIN,
        "description": "Over TLS with `__Host-` before its name.",
    },
}

_OF_FASTAPI = ("HTTPValidationError", "ValidationError")


def described(schema: Schema) -> Schema:
    """Change the description of an API in place: the scope of each route, and the form of its errors."""
    components = schema.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in _OF_FASTAPI:
        schemas.pop(name, None)
    schemas["Error"] = _ERROR
    components["securitySchemes"] = _KEYS
    for path, operations in schema.get("paths", {}).items():
        for method, operation in operations.items():
            _describe(operation, method.upper(), path)
    return schema


def scope_of(method: str, path: str) -> str | None:
    """The scope that a key needs for a route, such as `daily:write`, `any` where each will do; None where no key is needed."""
    need = needed(method, path)
    if need.audience == "holders":
        return "any"
    return None if need.audience == "everyone" else f"{need.module}:{need.capability}"


def _describe(operation: Schema, method: str, path: str) -> None:
    scope = scope_of(method, path)
    operation["security"] = [] if scope is None else [{name: []} for name in _KEYS]
    if scope is not None:
        operation["x-scope"] = scope
    if needed(method, path).is_confirmed:
        # A browser that is signed in confirms it.
        operation["x-confirmed"] = True
    responses = operation.setdefault("responses", {})
    responses.pop("422", None)
    responses["default"] = {
        "description": "An error.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    }
