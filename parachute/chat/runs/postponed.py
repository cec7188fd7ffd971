"""Calls of tools that wait for the owner after they were refused, since nobody was there to ask: as hosts do, for the next try."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from parachute.base.clock import SYSTEM, Clock
from parachute.chat.agent_processes.permits import arguments_hash
from parachute.chat.runs.run import Question, Run
from parachute.events.inbox.models import ALLOW, DENY, Item

_MOST, _MOST_OF_SESSION = 100, 10
_ALLOWED_SECONDS = 24 * 3600.0
_CHARACTERS = 120

_Call = tuple[str, str, str]


class _Waiting(Struct, frozen=True):
    call: _Call
    item: Item
    grants: tuple[str, ...]


class PostponedCalls:
    """In memory alone: after a restart the agent is refused once more, and the owner asked. What is allowed may be made once."""

    def __init__(self, clock: Clock = SYSTEM) -> None:
        self._clock = clock
        self._waiting: dict[str, _Waiting] = {}
        self._allowed: dict[_Call, float] = {}

    def put(self, run: Run, request: Question) -> bool:
        """Have a call wait for the owner; False if too many do."""
        call = _call(run.session.id, request.details["tool"], request.details["input"])
        others = [each for each in self._waiting.values() if each.call != call]
        if len(others) >= _MOST or sum(each.call[0] == run.session.id for each in others) >= _MOST_OF_SESSION:
            return False
        self.withdraw(run.session.id, call[1], request.details["input"])
        self._waiting[request.identifier] = _Waiting(call, permission_item(run, request), request.grants)
        return True

    def withdraw(self, session: str, tool: str, tool_input: Mapping[str, Any]) -> str | None:
        """Ask for a call no more, and return the name under which it has waited: asked for again, it is the same item."""
        call = _call(session, tool, tool_input)
        found = next((key for key, each in self._waiting.items() if each.call == call), None)
        if found is not None:
            del self._waiting[found]
        return found

    def take(self, session: str, tool: str, tool_input: Mapping[str, Any]) -> bool:
        """Return whether the owner has allowed exactly this call since it was refused; it is used up with that."""
        ends = self._allowed.pop(_call(session, tool, tool_input), 0.0)
        return self._clock.elapsed() < ends

    def items(self) -> Sequence[Item]:
        """Return what waits."""
        return [each.item for each in self._waiting.values()]

    def grants(self, key: str) -> tuple[str, ...] | None:
        """The grants that may be given with the answer to a call; None if no such call waits."""
        found = self._waiting.get(key)
        return None if found is None else found.grants

    def answer(self, key: str, *, allow: bool) -> None:
        """Take the owner's answer to a call."""
        found = self._waiting.pop(key)
        now = self._clock.elapsed()
        self._allowed = {call: ends for call, ends in self._allowed.items() if now < ends}
        if allow:
            self._allowed[found.call] = now + _ALLOWED_SECONDS

    def forget(self, session: str | None = None) -> None:
        """Forget everything, of one session if one is named."""
        self._waiting = {key: each for key, each in self._waiting.items() if session not in (None, each.call[0])}
        self._allowed = {call: ends for call, ends in self._allowed.items() if session not in (None, call[0])}


def permission_item(run: Run, request: Question) -> Item:
    """A permission request in the inbox."""
    tool = str(request.details["tool"])
    wanted = request.details["input"]
    shown = " ".join(str(wanted.get("command") or wanted.get("file_path") or "").split())[:_CHARACTERS]
    return Item(
        kind="permission",
        key=request.identifier,
        title=f"{tool}: {shown}" if shown else tool,
        source=source_of(run),
        since=request.since,
        details=request.details,
        answers=(ALLOW, DENY, *(f"{ALLOW} {grant}" for grant in request.grants)),
        rights=(("chat", "write"),),
        is_owners=is_owners(run),
        session=run.session.id,
    )


def source_of(run: Run) -> str:
    """Return the name of the asker, for people."""
    return run.session.title or "A new conversation"


def is_owners(run: Run) -> bool:
    """As for its routes: whoever talks to a session that runs directly has anything done with the owner's rights."""
    return run.is_direct or run.session.trust_level == "direct"


def _call(session: str, tool: str, tool_input: Mapping[str, Any]) -> _Call:
    return session, tool, arguments_hash(tool_input)
