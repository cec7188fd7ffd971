"""A suggestion as it is stored and as apps read it, and what may be one."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from msgspec import Struct, convert, to_builtins

from parachute.automation.suggestions.payloads import check_seen, payload_text, without_unseen
from parachute.base.answers import Answer
from parachute.base.errors import Conflict, InvalidInput
from parachute.core.para_id import ParaId
from parachute.core.services import ACTIONS
from parachute.security.origin import Origin

REASONING_LIMIT = 2000
TITLE_LIMIT = 200
PENDING_LIMIT = 200
"""Suggestions of one module, or of all conversations, that may wait for the user."""

MEMBERS_LIMIT = 100
BATCH: Final = "batch"
"""The action of an entry that stands for several suggestions."""

CONVERSATION = "conversation"
"""In the place of a module's name: a person's own conversation proposes. No module can have it, nor the next one."""

OUTSIDE = "outside"
"""A conversation in which people other than the owner write proposes."""

OUTSIDE_LIMIT = 20
"""Suggestions from outside that may wait: strangers do not fill the owner's inbox."""

_PROPOSED = ("action", "target_module", "target_id", "payload", "reasoning")
Action = Literal["create", "update", "delete", "link", "batch"]
Status = Literal["pending", "approved", "rejected", "modified"]
Version = str | int


class TooMany(Conflict):
    """Too many suggestions of a module wait for the user."""

    status = 429
    key = "too_many_suggestions"


class Source(Struct, frozen=True):
    """The source of a proposal: a module, or with `agent` and `session` one of its agents; or a conversation.

    `targets` are the modules that the file of an agent names, which is none of the manifest.
    """

    module: str
    agent: str = ""
    session: str | None = None
    targets: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """`module`, or `module/agent`."""
        return f"{self.module}/{self.agent}" if self.agent else self.module

    @property
    def most(self) -> int:
        """The number of its suggestions that may wait."""
        return OUTSIDE_LIMIT if self.module == OUTSIDE else PENDING_LIMIT


class Proposal(Struct, frozen=True):
    """A proposal that was checked; `payload` is JSON of an object."""

    action: Action
    target_module: str
    target_id: str | None
    payload: str
    reasoning: str
    title: str = ""

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "Proposal":
        """Check what somebody proposes; error: InvalidInput naming the field."""
        if unknown := document.keys() - _PROPOSED:
            raise InvalidInput(
                f"{min(unknown)[:40]}: unknown field; allowed are {', '.join(_PROPOSED)}.", key="field_unknown"
            )
        action, target = document.get("action"), document.get("target_module")
        if action not in ACTIONS:
            raise InvalidInput(f"action: one of {', '.join(ACTIONS)} is allowed.", key="unknown_action")
        if not isinstance(target, str) or not target:
            raise InvalidInput("target_module: the name of a module is expected.", key="target_module_missing")
        identifier = document.get("target_id")
        if identifier is not None:
            if not isinstance(identifier, str) or ParaId.parse(identifier).module != target:
                raise InvalidInput(
                    f"target_id: a para-id of {target[:40]} is expected, such as para:{target[:40]}:….",
                    key="target_invalid",
                )
        elif action in ("update", "delete"):
            raise InvalidInput(f"target_id: {action} needs the para-id of what it changes.", key="target_missing")
        reasoning = document.get("reasoning") or ""
        if not isinstance(reasoning, str) or len(reasoning) > REASONING_LIMIT:
            raise InvalidInput(
                f"reasoning: text of at most {REASONING_LIMIT:,} characters is allowed.", key="reasoning_too_long"
            )
        check_seen(reasoning, "reasoning")
        payload = payload_text(document.get("payload"))
        return cls(action, target, identifier, payload, whole(reasoning), title_of(document["payload"]))


class Decision(Answer, frozen=True):
    """A decision: `by` is `user` or `orchestrator:{id}`, `who` the caller; `payload` JSON instead of the proposed."""

    by: str
    who: str
    payload: str | None = None
    reason: str = ""

    @property
    def outcome(self) -> Status:
        """The status that a suggestion gets when this was carried out."""
        return "approved" if self.payload is None else "modified"


class Resolution(Answer, frozen=True):
    """One decision about a suggestion, or a try that failed."""

    timestamp: str
    outcome: Literal["approved", "rejected", "modified", "failed", "undone"]
    resolved_by: str
    who: str
    modifications: dict[str, Any] | None
    reason: str
    error: str | None


class ShownSuggestion(Answer, frozen=True, kw_only=True):
    """A suggestion as apps read it; the fields of spec 000, and how its application went.

    `expected_version` is what the target had when this was made, `before` the fields that it replaces. `batch` is the entry that it
    is a member of, `origin` the lowest of what had entered whoever made it: None for one that was made before this was kept.
    """

    id: str
    source_agent: str
    source_session: str | None
    timestamp: str
    action: Action
    target_module: str
    target_id: str | None
    title: str
    payload: dict[str, Any]
    reasoning: str
    status: Status = "pending"
    resolved_by: str | None = None
    resolved_at: str | None = None
    modifications: dict[str, Any] | None = None
    applied_at: str | None = None
    error: str | None = None
    result: Any = None
    expected_version: Version | None
    before: dict[str, Any] | None = None
    batch: str | None = None
    origin: Origin | None = None
    members: tuple["ShownSuggestion", ...] = ()


class Suggestion(ShownSuggestion, frozen=True, kw_only=True):
    """One row. `attempt` numbers the tries to apply it; while `trying` has a decision, one has begun of which nobody knows the end."""

    source_module: str
    attempt: int = 0
    trying: Decision | None = None
    members: tuple["Suggestion", ...] = ()

    @property
    def is_batch(self) -> bool:
        """True for an entry that stands for several."""
        return self.action == BATCH

    @property
    def change(self) -> dict[str, Any]:
        """The payload that counts: the user's own, or the proposed one."""
        return self.payload if self.modifications is None else self.modifications

    @property
    def try_id(self) -> str:
        """The id by which the target module knows this try."""
        return f"{self.id}.{self.attempt}"


def document_of(suggestion: Suggestion) -> dict[str, Any]:
    """The document that apps are answered, for the inbox and archives."""
    return dict(to_builtins(convert(to_builtins(suggestion), ShownSuggestion)))


def version_of(item: object) -> Version | None:
    """The field `version` of what a para-id stands for, where it is text or a whole number."""
    version = item.get("version") if isinstance(item, dict) else None
    if isinstance(version, bool) or not isinstance(version, str | int) or len(str(version)) > TITLE_LIMIT:
        return None
    return version


def title_of(thing: object) -> str:
    """The `name` or `title` of a thing, or nothing."""
    for key in ("name", "title"):
        text = thing.get(key) if isinstance(thing, Mapping) else None
        if isinstance(text, str) and text.strip():
            return whole(" ".join(without_unseen(text).split())[:TITLE_LIMIT])
    return ""


def whole(text: str) -> str:
    """The text without halves of characters, which JSON can carry and a database cannot."""
    return text.encode(errors="replace").decode()
