"""Requests to the module that a suggestion is about: the version of its thing, and to apply a change once."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from parachute.automation.suggestions.models import Suggestion, Version, title_of, version_of, whole
from parachute.automation.suggestions.own_targets import OwnTarget
from parachute.automation.suggestions.payloads import PAYLOAD_LIMIT, check_accepted, replaced, without_unseen
from parachute.automation.suggestions.previews import Previewed, previewed, readable
from parachute.base.errors import NotFound, ParachuteError
from parachute.modules.runtime.client import HostDown
from parachute.modules.runtime.service import Hosts

_INSPECT_SECONDS = 30.0
_APPLY_SECONDS = 60.0


class Unknown(ParachuteError):
    """A module did not say how it ended: the change may have been applied."""

    status = 502
    key = "outcome_unknown"


class Seen(Struct, frozen=True):
    """Target of a suggestion at the time of its creation; `before` has the fields that it would replace."""

    version: Version | None = None
    title: str = ""
    before: dict[str, Any] | None = None


class Withdrawal(Struct, frozen=True):
    """The end of a try that nobody knew of: `applied` is None where not even the module knows."""

    applied: bool | None
    result: Any = None


class Targets:
    """Modules, as far as suggestions need them, and what is the computer's own."""

    def __init__(self, hosts: Hosts, own: Mapping[str, OwnTarget]) -> None:
        self._hosts = hosts
        self.own = dict(own)

    async def inspect(self, module: str, action: str, para_id: str | None, change: dict[str, Any]) -> Seen:
        """See what a suggestion is about, and whether its module accepts it as things are now.

        Errors: NotFound, InvalidInput, Conflict where nobody could apply it, HostDown.
        """
        if (own := self.own.get(module)) is not None:
            version, title = await own.inspect(change)
            return Seen(version, title)
        await self._hosts.host(module)
        if accepted := [each for each in self._hosts.changes() if each.module == module]:
            check_accepted(accepted, action, change)
            document = {"check": True, "action": action, "target_id": para_id, "payload": change}
            await self._hosts.ask(module, "suggestion", document, _INSPECT_SECONDS)
        if para_id is None:
            return Seen()
        answer = await self._hosts.ask(module, "para", {"id": para_id}, _INSPECT_SECONDS)
        item = answer.get("item") if isinstance(answer, dict) else None
        before = replaced(item, change) if action == "update" else {}
        return Seen(version_of(item), title_of(item), _kept(before))

    async def apply(self, suggestion: Suggestion, payload: Any, *, by_owner: bool) -> Any:
        """Have a change applied, and give what the module says of it; `try_id` makes it once only.

        Errors: Unknown where it may have been applied; with any other, it was not.
        """
        if (own := self.own.get(suggestion.target_module)) is not None:
            return await own.apply(suggestion, payload, by_owner=by_owner)
        document = {
            "id": suggestion.try_id,
            "action": suggestion.action,
            "target_id": suggestion.target_id,
            "payload": payload,
            "expected_version": suggestion.expected_version,
        }
        answer = await self._ask(suggestion.target_module, document)
        if not isinstance(answer, dict) or "result" not in answer:
            raise Unknown(f"The module {suggestion.target_module} gave no result.", _DECIDE_AGAIN)
        return answer["result"]

    async def preview(self, suggestion: Suggestion) -> Previewed:
        """Return the change that a suggestion makes or made; where the module does not say, its payload as text."""
        payload = suggestion.change
        if (own := self.own.get(suggestion.target_module)) is not None:
            return await own.preview(suggestion, payload)
        document = {
            "id": suggestion.try_id,
            "preview": True,
            "action": suggestion.action,
            "target_id": suggestion.target_id,
            "payload": payload,
        }
        shown, problem = None, None
        try:
            answer = await self._hosts.ask(suggestion.target_module, "suggestion", document, _INSPECT_SECONDS)
            shown = answer.get("preview") if isinstance(answer, dict) else None
        except ParachuteError as error:
            problem = str(error)
        if isinstance(shown, dict):
            texts = [_text(shown.get(name)) for name in ("before", "after")]
            title = _text(shown.get("title")) or suggestion.title
            return await asyncio.to_thread(previewed, title, texts[0], texts[1])
        before = None if suggestion.before is None else readable(suggestion.before)
        # What was decided needs no module any more.
        return previewed(
            suggestion.title, before, readable(payload), problem if suggestion.status == "pending" else None
        )

    async def undo(self, suggestion: Suggestion) -> Version | None:
        """Have a module take back what it applied, and give the version of its thing then.

        Errors: Conflict where it is not as it was made, Unknown where it may have been taken back.
        """
        if (own := self.own.get(suggestion.target_module)) is not None:
            return await own.undo(suggestion)
        answer = await self._ask(suggestion.target_module, {"id": suggestion.try_id, "undo": True})
        if not isinstance(answer, dict) or answer.get("undone") is not True:
            raise Unknown(f"The module {suggestion.target_module} gave no answer.", "Try it again.")
        return version_of(answer)

    async def withdraw(self, suggestion: Suggestion) -> Withdrawal:
        """Learn how a try ended, and see that it does not begin any more; errors: Unknown, and why nobody can be asked."""
        if (own := self.own.get(suggestion.target_module)) is not None:
            tried = suggestion.trying.payload if suggestion.trying else None
            return Withdrawal(await own.is_applied(json.loads(tried) if tried else suggestion.payload))
        document = {"id": suggestion.try_id, "withdraw": True}
        try:
            answer = await self._ask(suggestion.target_module, document)
        except NotFound as error:
            # The module was removed, and what it had applied with it.
            if suggestion.target_module in {host.module.name for host in self._hosts.running()}:
                raise Unknown(
                    f"The module {suggestion.target_module} cannot say whether it was applied. {error}"
                ) from error
            return Withdrawal(False)
        applied = answer.get("applied") if isinstance(answer, dict) else None
        return Withdrawal(applied if isinstance(applied, bool) else None, answer.get("result") if applied else None)

    async def _ask(self, module: str, document: dict[str, Any]) -> Any:
        host = await self._hosts.host(module)
        try:
            return await host.control("POST", "suggestion", document, _APPLY_SECONDS)
        except HostDown as error:
            why = await self._hosts.explained(module, error)
            raise Unknown(why.message, why.hint or _DECIDE_AGAIN) from error


def _kept(before: dict[str, Any]) -> dict[str, Any] | None:
    """Return the replaced fields, or None if they are too long to be read by anybody."""
    return before if before and len(json.dumps(before)) <= 2 * PAYLOAD_LIMIT else None


def _text(value: object) -> str | None:
    """A text of a module without what nobody sees."""
    return without_unseen(whole(value)) if isinstance(value, str) else None


_DECIDE_AGAIN = "It is unknown whether the change was made; decide again to check."
