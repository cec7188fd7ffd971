"""Messages of MCP from a program with a key or a grant: what there is for it, and a receipt of each answer."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from parachute.base import mcp_messages
from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import ParachuteError, Unavailable
from parachute.modules.mcp_endpoint.access import Access, ByGrant, ByKey, May, Outside
from parachute.modules.mcp_endpoint.answering import Answering, Made
from parachute.modules.mcp_endpoint.receipts import EVENT, Receipts, sentences
from parachute.modules.mcp_endpoint.resources.service import Resources
from parachute.modules.runtime.service import Hosts
from parachute.security.audit.service import Audit
from parachute.security.keys.models import Caller
from parachute.security.kill_switch.switch import KillSwitch
from parachute.security.mcp_clients.service import McpClients

_AT_ONCE = 8


class McpEndpoint:
    """Keeps nothing between two messages: whoever asks shows its key or token each time, and has the tools that it allows."""

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
        self._calls: Counter[str] = Counter()
        self._outside: Outside | None = None

    def start(self, outside: Outside) -> None:
        """Let clients in, now that there are conversations and suggestions."""
        self._outside = outside

    @property
    def outside(self) -> Outside:
        """The parts that `start` was given; error: Unavailable before."""
        if self._outside is None:
            raise Unavailable("The server is starting.", "Try again in a moment.", key="starting")
        return self._outside

    async def answer(self, message: Mapping[str, Any], caller: Caller, may: May) -> bytes | None:
        """The answer to one message, None to one that wants none; errors: ParachuteError (`too_many_calls`, `grant_ended`)."""
        access: Access = ByKey(self._hosts, may)
        if caller.kind == "mcp_client":
            await self._clients.note_use(caller.key or "")
            access = ByGrant(self._hosts, self._clients, self.receipts, self.outside, caller.key or "")
        who = f"{caller.kind} {caller.key or caller.name}"
        answering = Answering(self._hosts, self.resources, self._kill_switch, access, who, lambda: self._under_way(who))
        answered = await mcp_messages.answer(message, answering.tools())
        if answered is None:
            return None
        data, made = encoded(answered), answering.made
        if made is not None:
            if made.problem is None and not access.may_leave(len(data)):
                data = encoded(answering.over_budget(answered))
            self._record(made, caller, len(data))
        return data

    @contextmanager
    def _under_way(self, who: str) -> Iterator[None]:
        if self._calls[who] >= _AT_ONCE:
            raise ParachuteError(
                f"{_AT_ONCE} calls of this program are not answered yet.",
                "Wait for one of them.",
                status=429,
                key="too_many_calls",
            )
        self._calls[who] += 1
        try:
            yield
        finally:
            self._calls[who] -= 1
            if not self._calls[who]:
                del self._calls[who]

    def _record(self, made: Made, caller: Caller, size: int) -> None:
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
            sentences=sentences(made.passed.text),
            files=[{"path": path} for path in made.passed.files],
        )


def encoded(answer: dict[str, Any]) -> bytes:
    """Compact JSON."""
    # Half a surrogate pair is valid in JSON and not in UTF-8.
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
