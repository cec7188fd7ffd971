"""Reading JSON with the rules of a Dart cast, and saying clearly what does not fit.

Unknown members are ignored. A required member that is missing or null, and any member of another type than the app
casts to, is an error: no text for a number, no 1.0 for an int, no 0 for a bool. A member with a default may be null.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})")


def _moment(value: str) -> str:
    # The app would read a time without a zone as its own local time.
    if not MOMENT.fullmatch(value):
        raise ValueError("must be an ISO date and time that ends in Z or an offset")
    try:
        datetime.fromisoformat(value)
    except ValueError as error:
        raise ValueError(f"must be a real date and time: {error}") from error
    return value


Moment = Annotated[str, AfterValidator(_moment)]
"""A date and time with its zone, as text."""

Number = int | float
"""Numbers as Dart's `num`."""


class Snake(BaseModel):
    """The base of models whose members have the same names in JSON."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_absent(cls, data: Any) -> Any:
        """Drop nulls, which Dart's `?? default` treats as absent, unless the member is required."""
        if not isinstance(data, Mapping):
            return data
        required = {name for field in cls.model_fields.items() if field[1].is_required() for name in _names(*field)}
        return {key: value for key, value in data.items() if value is not None or key in required}


class Camel(Snake):
    """The base of models whose members are in camelCase in JSON."""

    model_config = ConfigDict(alias_generator=to_camel)


def names(model: type[Camel]) -> set[str]:
    """The members that a model reads."""
    return {name for field in model.model_fields.items() for name in _names(*field)}


def _names(name: str, field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return [choice for choice in alias.choices if isinstance(choice, str)]
    return [alias if isinstance(alias, str) else name]


Model = TypeVar("Model")


def check(model: type[Model], payload: Any, present: Sequence[str] = (), *, name: str | None = None) -> Model:
    """Read `payload` as `model`, or fail with one line for each member that does not fit.

    `present` names members that the app could do without, but that must be there and not null in this case; a dot goes
    into an object: `sessionResume.method`. `name` stands for the model in the failure.
    """
    title = model.__name__ if name is None else name
    try:
        read: Model = TypeAdapter(model).validate_python(payload)
    except ValidationError as error:
        raise AssertionError(_explain(title, error)) from None
    missing = [path for path in present if _at(payload, path) is None]
    assert not missing, f"{title}: must be there and not null: {', '.join(missing)}"
    return read


def check_all(model: type[Model], payloads: Any, present: Sequence[str] = ()) -> list[Model]:
    """Read every item of a list that must not be empty."""
    assert isinstance(payloads, list), f"must be a list, got {payloads!r:.80}"
    assert payloads, f"an empty list shows nothing about {getattr(model, '__name__', model)}"
    return [check(model, payload, present) for payload in payloads]


def _at(payload: Any, path: str) -> Any:
    for key in path.split("."):
        payload = payload.get(key) if isinstance(payload, Mapping) else None
    return payload


def _explain(name: str, error: ValidationError) -> str:
    lines = [f"{name} does not fit what the app reads:"]
    for problem in error.errors(include_url=False):
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem["loc"]).lstrip(".")
        got = "" if problem["type"] == "missing" else f", got {problem['input']!r:.80}"
        lines.append(f"  {where or 'the whole'}: {problem['msg']}{got}")
    return "\n".join(lines)
