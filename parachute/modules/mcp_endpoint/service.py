"""Messages of MCP from a program with a key or a grant: what there is for it, and a receipt of each answer."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from parachute.base import mcp_messages
from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.mcp_messages import CANCELLATION, Working
from parachute.modules.mcp_endpoint.access import Access, ByGrant, ByKey, GrantEnded, May, Outside
from parachute.modules.mcp_endpoint.answering import Answering, Made
from parachute.modules.mcp_endpoint.receipts import EVENT, Receipts, sentences
from parachute.modules.mcp_endpoint.resources.service import Resources
from parachute.modules.runtime.service import Hosts
from parachute.security.audit.service import Audit
from parachute.security.keys.models import Caller
from parachute.security.kill_switch.switch import KillSwitch
from parachute.security.mcp_clients.service import McpClients

_AT_ONCE = 8


class TooManyCalls(ParachuteError):
    """A program asks for more at once than is done at once."""

    status = 429
    key = "too_many_calls"


class McpEndpoint:
    """Answers clients: whoever asks shows its key or token each time, and has what that allows; nothing else is kept than calls under way."""

    def __init__(
        self,
        hosts: Hosts,
        kill_switch: KillSwitch,
        audit: Audit,
        clients: McpClients,
        vault: Path,
        clock: Clock = SYSTEM,
    ) -> None:
        self._hosts = hosts
        self._kill_switch = kill_switch
        self._audit = audit
        self._clients = clients
        self.resources = Resources(hosts, vault, clock)
        self.receipts = Receipts(audit, clock)
        self._working = Working()
        self._wake = asyncio.Event()
        self._calls: Counter[str] = Counter()
        self._outside: Outside | None = None

    def start(self, outside: Outside) -> None:
        """Let clients in, now that there are conversations and suggestions."""
        self._outside = outside
        self._hosts.after_changes.append(self._changed)
        self._clients.listeners.append(self._notice)

    @property
    def outside(self) -> Outside:
        """The parts that `start` was given; error: Unavailable before."""
        if self._outside is None:
            raise Unavailable("The server is starting.", "Try again in a moment.", key="starting")
        return self._outside

    async def answer(
        self,
        message: Mapping[str, Any],
        caller: Caller,
        may: May,
        session: str = "",
        framed: Callable[[bytes], bytes] = lambda data: data,
    ) -> bytes | None:
        """The answer to one message, `framed` as it is sent, None to one that wants none; errors: ParachuteError (`too_many_calls`, `grant_ended`)."""
        who, identifier = _name(caller), message.get("id")
        if message.get("method") == CANCELLATION:
            params = message.get("params")
            wanted = params.get("requestId") if isinstance(params, dict) else None
            self._working.cancel((who, session, str(wanted), type(wanted)))
            return None
        if caller.kind == "mcp_client":
            await self._clients.note_use(caller.key or "")
        access = self._access(caller, may)
        answering = self._answering(access, who)
        key: Hashable = (who, session, str(identifier), type(identifier))
        if "id" not in message or (not session and self._working.is_at(key)):
            key = object()  # without sessions two of one program may choose the same
        work = mcp_messages.answer(message, answering.tools())
        answered = await self._working.answered(key, identifier, work)
        if answered is None:
            return None
        data, made = framed(encoded(answered)), answering.made
        if made is not None:
            if made.problem is None and not access.may_leave(len(data)):
                data = framed(encoded(answering.over_budget(answered)))
            self._record(made, caller, len(data))
        return data

    def changes(self, caller: Caller, may: May) -> AsyncIterator[tuple[int, dict[str, Any]]]:
        """Tell which lists are others than before, until the grant ends; error: ParachuteError (`too_many_calls`) where too many listen."""
        # Once an answer has begun no error can be told any more.
        self._check_free(_listening(caller))
        return self._changes(caller, may)

    async def _changes(self, caller: Caller, may: May) -> AsyncIterator[tuple[int, dict[str, Any]]]:
        who = _name(caller)
        with suppress(GrantEnded, TooManyCalls), self._under_way(_listening(caller)):
            answering = self._answering(self._access(caller, may), who)
            known = answering.lists()
            while True:
                wake = self._wake
                for name, now in (lists := answering.lists()).items():
                    if now != known[name]:
                        yield 0, {"jsonrpc": "2.0", "method": f"notifications/{name}/list_changed"}
                known = lists
                await wake.wait()

    def leave(self, caller: Caller, session: str) -> None:
        """Cancel everything that a program asks in one of its conversations."""
        begins = (_name(caller), session)
        if session:
            self._working.cancel_where(lambda key: isinstance(key, tuple) and key[:2] == begins)

    async def _changed(self) -> None:
        self._notice()

    def _notice(self) -> None:
        self._wake.set()
        self._wake = asyncio.Event()

    def _access(self, caller: Caller, may: May) -> Access:
        if caller.kind != "mcp_client":
            return ByKey(self._hosts, may)
        return ByGrant(self._hosts, self._clients, self.receipts, self.outside, caller.key or "")

    def _answering(self, access: Access, who: str) -> Answering:
        return Answering(self._hosts, self.resources, self._kill_switch, access, who, lambda: self._under_way(who))

    @contextmanager
    def _under_way(self, who: str) -> Iterator[None]:
        self._check_free(who)
        self._calls[who] += 1
        try:
            yield
        finally:
            self._calls[who] -= 1
            if not self._calls[who]:
                del self._calls[who]

    def _check_free(self, who: str) -> None:
        if self._calls.get(who, 0) >= _AT_ONCE:
            raise TooManyCalls(f"{_AT_ONCE} calls of this program are not answered yet.", "Wait for one of them.")

    def _record(self, made: Made, caller: Caller, size: int) -> None:
        count = sentences(made.passed.text)
        self._audit.append(
            event_type=EVENT,
            source_type="api_key" if caller.kind == "key" else caller.kind,
            source_id=caller.name,
            target_module=made.module,
            target_endpoint=made.name,
            para_ids_involved=made.passed.ids,
            success=made.problem is None,
            error=made.problem.key if made.problem else None,
            bytes=size,
            sentences=count,
            files=[{"path": path} for path in made.passed.files],
        )
        if made.problem is None:
            self.receipts.recorded(caller.name, size, count)


def _listening(caller: Caller) -> str:
    return f"{_name(caller)} listening"


def _name(caller: Caller) -> str:
    return f"{caller.kind} {caller.key or caller.name}"


def encoded(answer: dict[str, Any]) -> bytes:
    """Compact JSON."""
    # Half a surrogate pair is valid in JSON and not in UTF-8.
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
