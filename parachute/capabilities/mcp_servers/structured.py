"""Structured results, checked with the schema that the tool itself names for them: both may be hostile."""

from collections.abc import Iterator, Mapping
from typing import Any

_STEPS = 20_000
"""Keywords applied to one result, each entry of a list among them counted: a small schema can ask for endlessly many."""

_CHECKED = frozenset(
    [
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "enum",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "not",
        "oneOf",
        "prefixItems",
        "properties",
        "required",
        "type",
    ]
)
"""All others count as kept. Patterns are not here: one may never come to an end, and nothing else runs meanwhile."""


class _TooMuch(Exception):
    """A result whose check has taken too many steps."""


def problem_of_structured(value: Any, schema: Mapping[str, Any]) -> str | None:
    """The reason for which a result is not what its tool has promised, None for one that is; takes time."""
    # Not at the top, for the server's start.
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from jsonschema.validators import create
    from referencing import Registry

    left = _STEPS

    def counted(check: Any) -> Any:
        def checked(validator: Any, said: Any, instance: Any, schema: Any) -> Iterator[Any]:
            nonlocal left
            left -= len(said) if isinstance(said, list) else 1
            if left < 0:
                raise _TooMuch
            if check is not others or "patternProperties" not in schema:
                yield from check(validator, said, instance, schema) or ()

        return checked

    checks: Mapping[str, Any] = Draft202012Validator.VALIDATORS
    others = checks["additionalProperties"]
    kept = {name: counted(check) for name, check in checks.items() if name in _CHECKED}
    made = create(Draft202012Validator.META_SCHEMA, kept, type_checker=Draft202012Validator.TYPE_CHECKER)
    try:
        # With a registry of its own nothing is fetched from an address that the schema names.
        error = best_match(made(schema, registry=Registry()).iter_errors(value))
    except Exception:
        # Libraries read here what anybody may have written, and no list of what they raise is complete.
        return "it cannot be checked with the tool's own schema"
    if error is None:
        return None
    place = ".".join(map(str, error.absolute_path)) or "it"
    return f"{place[:80]} is not what the tool's own schema promises"
