"""Records of runs in the audit log: each tool call with its files and hosts, what was changed, and what it cost."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from parachute.base.errors import InvalidInput
from parachute.base.redaction import redacted
from parachute.changes.models import Entry
from parachute.chat.agent_processes.models import ServerTool, shown_name
from parachute.chat.agent_processes.permits import arguments_hash
from parachute.chat.runs.run import Run
from parachute.llm.gateway.models import used_in
from parachute.modules.runtime.models import OfferedTool
from parachute.security.audit.records import para_ids
from parachute.security.audit.service import Audit
from parachute.security.permissions.actions import ACTION_BY_NAME, MCP_PREFIX
from parachute.security.permissions.models import Access, Resource
from parachute.security.permissions.policy import Policy

_SHOWN = 160
"""Characters of a command that a record shows."""

_FILES = 50
"""Files that one record names; its endpoint has the number of all."""

_MOST = 1000
"""Calls of one turn that wait for their results; a program that never sends any fills no memory."""


class ToolRecords:
    """The calls of one turn; each leaves one record: when it is refused, when its result is there, or at the end."""

    def __init__(self, audit: Audit, run: Run, policy: Policy) -> None:
        self._audit = audit
        self._run = run
        self._policy = policy
        self._modules: dict[str, str] = {}
        self._waiting: dict[str, tuple[float, dict[str, Any]]] = {}

    def know(self, tools: Iterable[OfferedTool]) -> None:
        """Learn which module or server offers each tool."""
        self._modules = {
            shown_name(tool): tool.server if isinstance(tool, ServerTool) else tool.module for tool in tools
        }

    def refused(self, tool: str, tool_input: Mapping[str, Any], reason: str) -> None:
        """Record a call that is not made."""
        self._append(self._described(tool, tool_input), success=False, error=_line(reason))

    def begun(self, tool: str, tool_input: Mapping[str, Any], call: str | None) -> None:
        """Remember a call that is made."""
        described = self._described(tool, tool_input)
        # A second call of the same id, which only what is forged has, does not take the place of the first one's record.
        if call is None or call in self._waiting or len(self._waiting) >= _MOST:
            self._append(described)
        else:
            self._waiting[call] = time.monotonic(), described

    def is_made_by_server(self, tool: str) -> bool:
        """Return whether a tool is of a module or an MCP server: the agent's program cannot make its calls itself."""
        return tool in self._modules

    def reported(self, call: str, *, is_error: bool) -> None:
        """Take the program's word for the end of a call, unless the server knows better."""
        found = self._waiting.get(call)
        if found is not None and not self.is_made_by_server(found[1]["target_endpoint"]):
            self.ended(call, is_error=is_error)

    def ended(self, call: str, *, is_error: bool) -> None:
        """Record a call whose result is there; a result that belongs to none changes nothing."""
        if (found := self._waiting.pop(call, None)) is not None:
            started, described = found
            error = "the tool says that it failed" if is_error else None
            duration = round((time.monotonic() - started) * 1000)
            self._append(described, success=not is_error, error=error, duration_ms=duration)

    def end(self) -> None:
        """Record the calls of which no result came."""
        for _, described in self._waiting.values():
            self._append(described, success=False, error="without a result")
        self._waiting.clear()

    def _append(self, described: dict[str, Any], **fields: Any) -> None:
        session = self._run.session.id
        self._audit.append(
            event_type="mcp_call" if described["target_endpoint"].startswith(MCP_PREFIX) else "tool_call",
            source_type="agent",
            source_id=session,
            session=session,
            run=self._run.log.run,
            owner=self._run.profile.owner.module if self._run.profile else None,
            origin=_origin(self._run),
            **described,
            **fields,
        )

    def _described(self, tool: str, tool_input: Mapping[str, Any]) -> dict[str, Any]:
        described: dict[str, Any] = {
            "target_module": self._modules.get(tool, "chat"),
            "target_endpoint": str(tool)[:200],
        }
        if tool.startswith(MCP_PREFIX):
            described["para_ids_involved"] = para_ids(tool_input)
            described["arguments"] = arguments_hash(tool_input)
        action = ACTION_BY_NAME.get(tool)
        try:
            if action is not None and action.resource is Resource.PATH:
                access = "write" if action.access is Access.WRITE else "read"
                described["files"] = [{"path": self._path(action.path(tool_input)[0]), "action": access}]
            elif (field := self._policy.reading_tools.get(tool)) is not None:
                described["files"] = [{"path": self._path(str(tool_input.get(field, ""))), "action": "read"}]
            elif action is not None and action.resource is Resource.COMMAND:
                described["summary"] = _line(action.text(tool_input, action.field))
            elif tool == "WebFetch":
                described["hosts"] = [urlsplit(str(tool_input.get("url"))).hostname or ""]
        except (InvalidInput, ValueError):
            pass  # a call that cannot be read is refused, and the record says so
        return described

    def _path(self, path: str) -> str:
        """The path as the owner knows it: of the vault from its root, of a sandbox by the folder that is mounted there."""
        policy = self._policy
        whole = os.path.normpath(policy.working_directory / path)
        for inside, folder in sorted(policy.mapped_roots.items(), key=lambda each: -len(each[0])):
            if policy.sandboxed and (whole == inside or whole.startswith(f"{inside.rstrip('/')}/")):
                whole = os.path.normpath(folder / whole[len(inside) :].lstrip("/"))
                break
        found = Path(whole)
        return str(found.relative_to(policy.vault)) if found.is_relative_to(policy.vault) else whole


def record_start(audit: Audit, run: Run) -> None:
    """Record that an agent begins that no person talks to (spec 000, `agent_start`)."""
    if run.profile is not None:
        owner = run.profile.owner
        audit.append(
            event_type="agent_start",
            source_type="module",
            source_id=owner.module,
            session=run.session.id,
            run=run.log.run,
            caller=run.caller,
            target_module=owner.module,
            target_endpoint=owner.agent or "agent",
        )


def record_run(audit: Audit, run: Run, error: str | None) -> None:
    """Record a run that has ended: who asked for it, how long it took, and what it cost."""
    audit.append(
        event_type="run",
        source_type="agent",
        source_id=run.session.id,
        session=run.session.id,
        run=run.log.run,
        caller=run.caller,
        owner=run.profile.owner.module if run.profile else None,
        workspace=run.session.workspace_id,
        direct=run.is_direct or None,
        origin=_origin(run),
        model=run.model,
        **(used_in(run.used) if run.used else {}),
        target_module=run.profile.owner.module if run.profile else "chat",
        target_endpoint="run",
        duration_ms=run.duration_ms,
        success=run.status == "done",
        error=error,
    )


def record_changes(audit: Audit, run: Run, entries: Sequence[Entry]) -> None:
    """Record the files that a run has changed, with the hash of each and the lines added and removed."""
    if not entries:
        return
    files = [
        {
            "path": entry.path,
            "action": "removed" if entry.after.kind == "none" else "write",
            "hash": entry.after.hash,
            "added": entry.added,
            "removed": entry.removed,
        }
        for entry in entries[:_FILES]
    ]
    audit.append(
        event_type="files_changed",
        source_type="agent",
        source_id=run.session.id,
        session=run.session.id,
        run=run.log.run,
        target_module="chat",
        origin=_origin(run),
        target_endpoint=f"{len(entries)} files",
        files=files,
    )


def _origin(run: Run) -> str | None:
    """The lowest origin of what had entered a run."""
    return run.origin.value.value if run.origin else None


def _line(command: str) -> str:
    """The first line of a command without what looks like a secret."""
    first, _, rest = command.strip().partition("\n")
    text = redacted(first)
    return text[:_SHOWN] + ("…" if rest or len(text) > _SHOWN else "")
