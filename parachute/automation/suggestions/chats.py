"""The tool `suggest` for persons' conversations: changes of what those modules keep whose tools the conversation has."""

from collections.abc import Sequence
from typing import Any

from parachute.automation.suggestions.models import CONVERSATION, OUTSIDE, REASONING_LIMIT, Source, Suggestion
from parachute.automation.suggestions.service import Suggestions
from parachute.automation.suggestions.tools import suggest_tool, waits
from parachute.base.errors import InvalidInput
from parachute.chat.agent_processes.models import OwnTool
from parachute.chat.runs.preparation import ProposingTools
from parachute.chat.sessions.models import Session, para_id_of
from parachute.chat.sessions.service import Sessions
from parachute.modules.runtime.models import AcceptedChange, OfferedTool
from parachute.modules.runtime.service import Hosts

_CHATS = "chat"
_THIS = "this"
_ORIGIN_LIMIT = 40

_WRITES = "Change what a module keeps. It is done at once, as the user allowed it; a deletion waits for the user. Say what you changed."
_PROPOSE = (
    "When you are asked to remember, note, correct or rename something that {} keep, or you learn a lasting fact that belongs "
    "there, propose it with the tool `suggest`: it waits in the owner's inbox, so never say that it is done."
)
_WRITE = (
    "When you are asked to remember, note, correct or rename something that {} keep, do it with the tool `suggest`, and say what "
    "you wrote."
)


class ChatSuggestions(ProposingTools):
    """Offers the tool; with `writes` the owner's own conversations change at once what others propose."""

    def __init__(self, hosts: Hosts, suggestions: Suggestions, sessions: Sessions, *, writes: bool) -> None:
        self._hosts = hosts
        self._suggestions = suggestions
        self._sessions = sessions
        self._writes = writes

    def suggest_tool(self, session: Session, tools: Sequence[OfferedTool], *, by_owner: bool) -> OwnTool | None:
        """Return the tool for a session with these tools of modules; None if no module of them accepts a change."""
        names = {tool.module for tool in tools}
        changes = [change for change in self._hosts.changes() if change.module in names]
        targets = tuple(dict.fromkeys(change.module for change in changes))
        if not targets:
            return None
        writes = self._writes and by_owner and not session.from_outside
        identifier = session.id

        async def call(arguments: dict[str, Any]) -> str:
            return await self._call(identifier, targets, arguments, writes=writes)

        usual = suggest_tool(targets)
        return OwnTool(
            usual.module,
            usual.name,
            _WRITES if writes else usual.description,
            _schema(changes, targets),
            call=call,
            prompt=(_WRITE if writes else _PROPOSE).format(_listed(targets)),
        )

    async def _call(self, session: str, targets: tuple[str, ...], arguments: dict[str, Any], *, writes: bool) -> str:
        # As it is now: a conversation may be joined to a messenger after its agent was started.
        found = await self._sessions.get(session)
        source = Source(CONVERSATION, "", session, targets)
        if found.from_outside:
            origin = str(found.linked_bot_platform or found.source)[:_ORIGIN_LIMIT]
            source = Source(OUTSIDE, origin, session, targets)
        if arguments.get("target_id") == _THIS:
            if arguments.get("target_module") != _CHATS:
                raise InvalidInput(
                    f"target_id: {_THIS!r} is this conversation, which belongs to {_CHATS}.", key="target_is_a_chat"
                )
            arguments = {**arguments, "target_id": para_id_of(session)}
        made = await self._suggestions.propose_in_chat(source, arguments, writes=writes and not found.from_outside)
        return _waits(made, writes=writes) if made.status == "pending" else _done(made)


def _schema(changes: Sequence[AcceptedChange], targets: tuple[str, ...]) -> dict[str, Any]:
    """The schema of the tool, with the form of each change."""
    forms = [{**change.schema, "description": f"{change.action} in {change.module}"} for change in changes]
    text = {"type": "string"}
    identifier = "Para-id of what shall change, as other tools show it; none for create."
    if _CHATS in targets:
        identifier += f" `{_THIS}` is this conversation."
    properties = {
        "target_module": {**text, "enum": list(targets)},
        "action": {**text, "enum": list(dict.fromkeys(change.action for change in changes))},
        "target_id": {**text, "description": identifier},
        "payload": forms[0] if len(forms) == 1 else {"anyOf": forms},
        "reasoning": {**text, "maxLength": REASONING_LIMIT, "description": "Why, in one sentence: what the user said."},
    }
    required = ["target_module", "action", "payload", "reasoning"]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _listed(targets: tuple[str, ...]) -> str:
    names = [name.capitalize() for name in targets]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _waits(made: Suggestion, *, writes: bool) -> str:
    if writes and made.origin is not None and not made.origin.may_record:
        return f"{waits(made)} This conversation has read what came from {made.origin.words}."
    return waits(made)


def _done(made: Suggestion) -> str:
    name = made.title or made.target_id or ""
    return f"Done: {made.action} {name} in {made.target_module}. `parachute suggestions show {made.id}` tells what was changed."
