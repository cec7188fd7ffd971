"""Suggestions of another computer, as an archive has them: what was decided stays decided, the rest waits again."""

import json
import re
from typing import Any, get_args

from parachute.automation.suggestions.models import Proposal, Status, Suggestion, whole
from parachute.automation.suggestions.store import SuggestionStore
from parachute.base.errors import InvalidInput
from parachute.core.services import ACTIONS
from parachute.security.origin import Origin

_ID = re.compile(r"[0-9a-f-]{8,64}")
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_TEXT = 2000
_DOCUMENT = 256 * 1024
_DECIDED = ("resolved_by", "resolved_at", "applied_at", "error")
_PROPOSED = ("action", "target_module", "target_id", "payload", "reasoning")


class Restoring:
    """Brings suggestions back."""

    def __init__(self, store: SuggestionStore) -> None:
        self._store = store

    async def bring(self, document: dict[str, Any], dry_run: bool) -> bool:
        """Store a suggestion that is not here yet, or only look; whether it was not here. Errors: InvalidInput, TooMany."""
        made = _read(document)
        if dry_run:
            return await self._store.get(made.id) is None
        return await self._store.restore(made)


def _read(document: dict[str, Any]) -> Suggestion:
    identifier, status = document.get("id"), document.get("status")
    if not isinstance(identifier, str) or not _ID.fullmatch(identifier):
        raise InvalidInput("id: a suggestion's id is expected.", key="id_invalid")
    if status not in get_args(Status):
        raise InvalidInput(f"status: one of {', '.join(get_args(Status))} is expected.", key="status_invalid")
    modules = [document.get("source_module"), document.get("target_module")]
    if (
        not all(isinstance(each, str) and _NAME.fullmatch(each) for each in modules)
        or document.get("action") not in ACTIONS
    ):
        raise InvalidInput("action: a known one is expected, with the names of two modules.", key="action_invalid")
    if status == "pending":
        # Somebody may still say yes to it: it has to be what could be proposed today.
        proposal = Proposal.read({name: document.get(name) for name in _PROPOSED})
        payload, origin = json.loads(proposal.payload), Origin.IMPORT
    else:
        payload, origin = _object(document, "payload") or {}, None
    version = document.get("expected_version")
    decided = {name: None if status == "pending" else _text(document, name) for name in _DECIDED}
    known: Status = next(each for each in get_args(Status) if each == status)
    return Suggestion(
        id=identifier,
        source_module=str(modules[0]),
        source_agent=_text(document, "source_agent") or "",
        source_session=_text(document, "source_session"),
        timestamp=_text(document, "timestamp") or "",
        action=document["action"],
        target_module=str(modules[1]),
        target_id=_text(document, "target_id"),
        title=_text(document, "title") or "",
        expected_version=version if isinstance(version, str | int) and not isinstance(version, bool) else None,
        payload=payload,
        reasoning=_text(document, "reasoning") or "",
        status=known,
        modifications=_object(document, "modifications"),
        result=_json(document, "result"),
        before=_object(document, "before"),
        origin=origin if origin is not None else _origin(document),
        resolved_by=decided["resolved_by"],
        resolved_at=decided["resolved_at"],
        applied_at=decided["applied_at"],
        error=decided["error"],
    )


def _text(document: dict[str, Any], name: str) -> str | None:
    value = document.get(name)
    if value is not None and (not isinstance(value, str) or len(value) > _TEXT):
        raise InvalidInput(f"{name}: a short text is expected.", key="text_expected")
    return None if value is None else whole(value)


def _object(document: dict[str, Any], name: str) -> dict[str, Any] | None:
    value = _json(document, name)
    if not isinstance(value, dict | None):
        raise InvalidInput(f"{name}: an object is expected.", key="not_an_object")
    return value


def _json(document: dict[str, Any], name: str) -> Any:
    if (value := document.get(name)) is None:
        return None
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise InvalidInput(f"{name}: JSON is expected.", key="not_json") from error
    if len(text) > _DOCUMENT:
        raise InvalidInput(f"{name}: it is too long.", key="text_too_long")
    return json.loads(whole(text))


def _origin(document: dict[str, Any]) -> Origin | None:
    try:
        return Origin(document["origin"]) if document.get("origin") else None
    except ValueError as error:
        raise InvalidInput("origin: a known one is expected.", key="origin_unknown") from error
