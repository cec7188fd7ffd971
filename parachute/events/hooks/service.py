"""Hooks: running those of an event, their approval, and their errors."""

import asyncio
import contextlib
import json
import logging
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct

from parachute.base.approved_hashes import ApprovedHashes
from parachute.base.clock import now
from parachute.base.errors import InvalidInput
from parachute.config.settings.home import Home
from parachute.events.bus.catalogue import BY_NAME
from parachute.events.bus.models import Event, checked_name, matches
from parachute.events.bus.service import Events
from parachute.events.hooks import configuration, context, running
from parachute.events.hooks.commands import Command, prepare
from parachute.events.hooks.models import (
    BLOCKABLE,
    MAKE_MEMORY,
    Added,
    CannotRun,
    Hook,
    HookFailure,
    HookOutcome,
    Ran,
    ShownHook,
)
from parachute.security.audit.service import Audit
from parachute.security.kill_switch.switch import KillSwitch

log = logging.getLogger(__name__)

_SUBSCRIBER = "hooks"
_ERRORS = 100
_AT_ONCE = 4
_AT_ONCE_IN_BACKGROUND = 2
_IN_BACKGROUND = 50
_MESSAGE_CHARACTERS = 2000
_TURN_SECONDS = 3600.0
"""For all hooks of one event together; each has a time of its own."""

_BLOCKED = 2
_RECENT = timedelta(days=1)


class Listed(Struct, frozen=True):
    """A hook with its command as it is now, None if it cannot run because of `problem`."""

    hook: Hook
    command: Command | None
    problem: str | None
    is_approved: bool

    @property
    def makes_memory(self) -> bool:
        """True for one of those that come with the computer and ask the model."""
        return self.command is not None and self.command.is_built_in and self.command.arguments[-1] in MAKE_MEMORY


class Tested(Struct, frozen=True):
    """The result of trying one hook; `ran` is None if it was not run, because of `problem`."""

    hook: Hook
    ran: Ran | None
    problem: str | None


class Hooks:
    """The user's hooks. Only what was approved, exactly as it was approved, runs, and nothing while agents are stopped."""

    def __init__(self, home: Home, vault: Path, audit: Audit | None = None) -> None:
        self._root = home.root
        # Commands run, and their relative paths begin, where no agent can write.
        self._folder = home.root / configuration.FOLDER
        self._vault = vault
        self._audit = audit
        self._kill_switch = KillSwitch(home.root)
        self._events: Events | None = None
        hint = "Remove the file and approve your hooks again: `parachute hooks approve`."
        self._approved = ApprovedHashes(home.root / "hooks-approved.json", "command", "hook", hint)
        self._configuration = configuration.Configuration()
        self._signature: tuple[object, ...] | None = None
        self._errors: deque[HookFailure] = deque(maxlen=_ERRORS)
        self._reported: set[tuple[str, str]] = set()
        self._slots = asyncio.Semaphore(_AT_ONCE)
        # Of their own: whoever waits for a hook does not wait for those that nobody waits for.
        self._background_slots = asyncio.Semaphore(_AT_ONCE_IN_BACKGROUND)
        self._background: set[asyncio.Task[None]] = set()

    async def start(self, events: Events) -> None:
        """Install the default hooks at the very first start, and run hooks when something happens from now on."""
        await asyncio.to_thread(configuration.install, self._root)
        events.register(_SUBSCRIBER, self.deliver, _TURN_SECONDS)
        self._events = events
        if self._kill_switch.panic is None:
            await self.resume()

    async def stop(self) -> None:
        """End running hooks, and store events until `resume`."""
        if self._events is not None:
            await self._events.pause_subscriber(_SUBSCRIBER)
        await self.close()

    async def resume(self) -> None:
        """Run hooks for the stored events, and from now on."""
        if self._events is not None:
            await self._events.add_subscriber(_SUBSCRIBER, self.patterns, kind=_SUBSCRIBER)

    async def close(self) -> None:
        """End hooks in the background."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    def patterns(self) -> Sequence[str]:
        """The events of the bus that have a hook."""
        return [hook.event for hook in self._read().hooks if hook.event not in BLOCKABLE]

    async def deliver(self, subscriber: str, event: Event) -> None:
        """Run the hooks of an event of the bus; those of blockable events were asked before they happened."""
        if event.name not in BLOCKABLE:
            await self.fire(event.name, event.data, identifier=event.id, timestamp=event.timestamp)

    async def fire(
        self, event: str, data: dict[str, Any], *, identifier: str | None = None, timestamp: str | None = None
    ) -> HookOutcome:
        """Run every approved hook of an event, in order; asynchronous ones go on by themselves. Never raises for a hook."""
        outputs: list[dict[str, Any]] = []
        added: list[Added] = []
        if panic := self._kill_switch.panic:
            # Nobody can say whether one of them would have stopped it.
            return HookOutcome(event in BLOCKABLE, str(panic.refusal()), outputs, ())
        for listed in await self._of(event):
            hook, command = listed.hook, listed.command
            if command is None or not listed.is_approved:
                self._report_once(hook, command.digest if command else "", event, listed.problem or "")
                continue
            payload = self._payload(event, data, identifier, timestamp or now())
            if hook.is_async:
                while identifier is not None and len(self._background) >= _IN_BACKGROUND:
                    # The bus keeps what comes meanwhile: of a hundred conversations that are closed at once each is heard.
                    await asyncio.wait(self._background, return_when=asyncio.FIRST_COMPLETED)
                self._run_in_background(hook, command, event, payload)
                continue
            ran = await self._run(hook, command, event, payload)
            if ran is None:
                continue
            if ran.exit_code == _BLOCKED and event in BLOCKABLE:
                reason = ran.stderr.strip()[:_MESSAGE_CHARACTERS] or f"The hook {hook.name} stopped it."
                return HookOutcome(True, reason, outputs, tuple(added))
            if (output := self._judge(hook, event, ran)) is not None:
                outputs.append(output)
                added += self._added(hook, event, output, added)
        return HookOutcome(outputs=outputs, added=tuple(added))

    async def list(self) -> Sequence[Listed]:
        """All hooks as they are now."""
        return await self._listed(self._read().hooks)

    def problems(self) -> Sequence[str]:
        """The mistakes in `hooks.yaml` and the scripts, in sentences."""
        return self._read().problems

    def errors(self) -> Sequence[HookFailure]:
        """Recent failures, newest first."""
        return tuple(reversed(self._errors))

    def recent_errors(self) -> int:
        """The number of failures in the last day."""
        since = datetime.now(UTC) - _RECENT
        return sum(datetime.fromisoformat(each.timestamp) > since for each in self._errors)

    async def approve(self, listed: Sequence[Listed]) -> None:
        """Approve hooks exactly as they were listed, in place of earlier versions of their command lines; error: InvalidInput."""
        commands = [each.command for each in listed if each.command is not None and not each.command.is_built_in]
        for command in commands:
            texts = {str(file.path): file.content for file in command.files}
            await asyncio.to_thread(self._approved.approve, [(command.line, command.digest)], texts)

    def before(self, command: Command) -> Mapping[str, bytes]:
        """The files of a command line as they were approved last, by their paths; error: InvalidInput."""
        return self._approved.texts(command.line)

    async def test(self, event: str) -> Sequence[Tested]:
        """Try every hook of an event with example data, the asynchronous ones too; errors: InvalidInput, Stopped."""
        self._kill_switch.check()
        checked_name(event)
        own = BY_NAME.get(event)
        payload = self._payload(event, own.example if own else {}, None, now())
        tested = []
        for listed in await self._of(event):
            if listed.command is None or not listed.is_approved:
                tested.append(Tested(listed.hook, None, listed.problem))
            else:
                ran = await self._run(listed.hook, listed.command, event, payload)
                tested.append(Tested(listed.hook, ran, None if ran else self._errors[-1].message))
        return tested

    def _read(self) -> configuration.Configuration:
        signature = configuration.signature(self._root)
        if signature != self._signature:
            self._configuration = configuration.read(self._root)
            self._signature = signature
            for problem in self._configuration.problems:
                self._fail("hooks.yaml", "", problem)
        return self._configuration

    async def _of(self, event: str) -> Sequence[Listed]:
        return await self._listed([hook for hook in self._read().hooks if matches([hook.event], event)])

    async def _listed(self, hooks: Sequence[Hook]) -> Sequence[Listed]:
        return await asyncio.to_thread(self._prepared, hooks) if hooks else []

    def _prepared(self, hooks: Sequence[Hook]) -> Sequence[Listed]:
        try:
            approved, unreadable = self._approved.digests(), None
        except InvalidInput as error:
            approved, unreadable = frozenset(), str(error)
        folder = self._folder
        folder.mkdir(mode=0o700, exist_ok=True)
        search_path = running.search_path(self._vault)
        listed = []
        for hook in hooks:
            try:
                command = prepare(hook.command, folder, search_path)
            except CannotRun as error:
                listed.append(Listed(hook, None, str(error), False))
                continue
            is_approved = command.is_built_in or command.digest in approved
            waits = "It is not approved, or has changed since: `parachute hooks approve` shows it."
            listed.append(Listed(hook, command, None if is_approved else unreadable or waits, is_approved))
        return listed

    def _payload(self, event: str, data: dict[str, Any], identifier: str | None, timestamp: str) -> bytes:
        module = data.get("module")
        if not isinstance(module, str):
            module = own.module if (own := BY_NAME.get(event)) else event.partition(".")[0]
        payload = {
            "id": identifier,
            "event": event,
            "timestamp": timestamp,
            "vault_path": str(self._vault),
            "module": module,
            "data": {**data, **_files(data, self._vault)},
        }
        return json.dumps(payload, ensure_ascii=False).encode(errors="replace") + b"\n"

    def _run_in_background(self, hook: Hook, command: Command, event: str, payload: bytes) -> None:
        if len(self._background) >= _IN_BACKGROUND:
            self._fail(hook.name, event, f"{_IN_BACKGROUND} hooks run in the background already; it was left out.")
            return

        async def run() -> None:
            async with self._background_slots:
                ran = await self._run(hook, command, event, payload)
            if ran is not None:
                self._judge(hook, event, ran)

        task = asyncio.create_task(run(), name=f"hook {hook.name}")
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _added(self, hook: Hook, event: str, output: dict[str, Any], before: Sequence[Added]) -> Sequence[Added]:
        try:
            found = context.added(hook.name, output, before)
        except InvalidInput as error:
            self._fail(hook.name, event, error.message)
            return ()
        return () if found is None else (found,)

    async def _run(self, hook: Hook, command: Command, event: str, payload: bytes) -> Ran | None:
        ran: Ran | None = None
        error: str | None = None
        try:
            if command.function is not None:
                ran = await running.call(command.function, payload, hook.timeout)
            else:
                ran = await self._run_process(command, payload, hook.timeout, event)
        except OSError as failure:
            error = f"It could not be started: {failure}."
            self._fail(hook.name, event, error)
        if ran is not None and ran.exit_code is None:
            error = f"It was ended after {hook.timeout:g} seconds."
        elif ran is not None and ran.exit_code != 0:
            error = f"exit code {ran.exit_code}"
        if self._audit is not None:
            self._audit.append(
                event_type="hook",
                source_type="hook",
                source_id=hook.name,
                target_module=event.partition(".")[0],
                target_endpoint=event,
                duration_ms=ran.duration_ms if ran else 0,
                success=error is None,
                error=error,
            )
        return ran

    async def _run_process(self, command: Command, payload: bytes, seconds: float, event: str) -> Ran:
        values = running.environment(self._root, self._vault, event)
        async with self._slots:
            return await running.run(command, payload, seconds, values, self._root, self._folder)

    def _judge(self, hook: Hook, event: str, ran: Ran) -> dict[str, Any] | None:
        """The JSON that a hook answered; None after a failure, which is recorded."""
        said = ran.stderr.strip()[:_MESSAGE_CHARACTERS]
        if ran.exit_code is None:
            self._fail(hook.name, event, f"It was ended after {hook.timeout:g} seconds. {said}".strip())
        elif ran.exit_code == _BLOCKED:
            self._fail(hook.name, event, f"It tried to stop {event}, which cannot be stopped. {said}".strip())
        elif ran.exit_code != 0:
            self._fail(hook.name, event, said or f"It ended with exit code {ran.exit_code}.")
        # Other text is for people: programs often say that they are done.
        elif ran.stdout.lstrip().startswith("{"):
            with contextlib.suppress(ValueError, RecursionError):
                output = json.loads(ran.stdout)
                if isinstance(output, dict):
                    return output
            size = " It is too long." if ran.is_cut else ""
            self._fail(hook.name, event, f"Its answer is not JSON.{size}")
        return None

    def _report_once(self, hook: Hook, digest: str, event: str, problem: str) -> None:
        if (hook.source, digest) not in self._reported:
            self._reported.add((hook.source, digest))
            self._fail(hook.name, event, problem)

    def _fail(self, hook: str, event: str, message: str) -> None:
        log.warning("Hook %s: %s", hook, message)
        self._errors.append(HookFailure(hook, event, message, now()))


def shown_hooks(listed: Sequence[Listed], without_model: str | None) -> list[ShownHook]:
    """Hooks for the app, where a command that several events have is one hook with all of them.

    `off` is why one that could run does nothing: there is no model for it.
    """
    found: dict[tuple[object, ...], ShownHook] = {}
    for each in listed:
        hook = each.hook
        key = (hook.name, hook.command, hook.is_async, hook.timeout, hook.description)
        shown = ShownHook(
            name=hook.name,
            events=[],
            blocking=not hook.is_async,
            description=hook.description,
            command=hook.command,
            source=hook.source,
            timeout=hook.timeout,
            approved=each.is_approved,
            problem=each.problem,
            off=without_model if each.makes_memory else None,
        )
        found.setdefault(key, shown).events.append(hook.event)
    return list(found.values())


def _files(data: dict[str, Any], vault: Path) -> dict[str, str]:
    """For each `entry_path` within the vault `entry_file`, which a script can open wherever it begins."""
    return {
        f"{name.removesuffix('_path')}_file": str(vault / value)
        for name, value in data.items()
        if name.endswith("_path") and isinstance(value, str) and value
    }
