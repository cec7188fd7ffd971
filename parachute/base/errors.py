"""The base class of all errors that a person may see."""

from typing import Any


class ParachuteError(Exception):
    """An error with a stable key, a sentence for a person, and a hint that says what to do next.

    `status` is the HTTP status it is rendered with; `fields` travel along as extra JSON members.
    """

    status = 400
    key = "error"

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        *,
        key: str | None = None,
        status: int | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.fields = fields
        if key is not None:
            self.key = key
        if status is not None:
            self.status = status

    def as_json(self) -> dict[str, Any]:
        """The body of an answer over HTTP: `detail` is the sentence alone, what to do next stands in `hint`."""
        return {**self.fields, "detail": self.message, "key": self.key, "hint": self.hint}

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


class InvalidInput(ParachuteError):
    """The request names something that cannot be: `message` names the field and what is allowed."""

    status = 422
    key = "invalid_input"


class NotFound(ParachuteError):
    """The thing that the request names does not exist."""

    status = 404
    key = "not_found"


class Conflict(ParachuteError):
    """The request is right, but not in the state that the thing is in now."""

    status = 409
    key = "conflict"


class NotAllowed(ParachuteError):
    """The caller is known and may not do this."""

    status = 403
    key = "not_allowed"


class Unavailable(ParachuteError):
    """Something this needs is down or absent; the hint says how to bring it back."""

    status = 503
    key = "unavailable"
