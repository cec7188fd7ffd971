"""Errors between processes: a short list of kinds as JSON, never a pickled object."""

import re
from collections.abc import Mapping
from typing import Any

from parachute.base.disk_errors import DiskFull
from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError, Unavailable

_LONGEST = 2_000
_KEY = re.compile(r"[a-z][a-z0-9_]{0,59}")


class ModuleError(ParachuteError):
    """A module did something wrong, or is built wrongly."""

    status = 502
    key = "module_error"


# What may cross: a name that is not in this table arrives as a ModuleError.
_KINDS: dict[str, type[ParachuteError]] = {
    kind.__name__: kind for kind in (DiskFull, Conflict, InvalidInput, ModuleError, NotAllowed, NotFound, Unavailable)
}


def error_document(error: BaseException) -> dict[str, Any]:
    """The error as JSON; what is no ParachuteError is named by its class only, since its text was not written for others."""
    if not isinstance(error, ParachuteError):
        message = f"It failed with {type(error).__name__}; its log has the details."
        return {"error": {"type": "ModuleError", "message": message, "hint": None}}
    kind = next((name for name, known in _KINDS.items() if isinstance(error, known)), "ModuleError")
    return {"error": {"type": kind, "message": error.message[:_LONGEST], "hint": error.hint, "key": error.key}}


def error_from_document(document: object) -> ParachuteError:
    """The error that `error_document` described; whatever else was sent becomes a ModuleError that says so."""
    described = document.get("error") if isinstance(document, Mapping) else None
    if not isinstance(described, Mapping) or not isinstance(described.get("message"), str):
        return ModuleError("The answer is neither a result nor an error.", key="answer_unreadable")
    kind = _KINDS.get(str(described.get("type")), ModuleError)
    hint, key = described.get("hint"), described.get("key")
    return kind(
        described["message"][:_LONGEST],
        hint[:_LONGEST] if isinstance(hint, str) else None,
        key=key if isinstance(key, str) and _KEY.fullmatch(key) else kind.key,
    )
