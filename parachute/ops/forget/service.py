"""Forgetting: a plan of what has the words, the owner's choices, and the order that the next start carries out."""

import asyncio
import contextlib
import hashlib
import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from parachute.base import swap_note
from parachute.base.clock import Clock, as_text
from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError
from parachute.config.settings.groups.operation import BackupSettings
from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.ops.forget import ordering
from parachute.ops.forget.models import BackupsHold, Choice, FileChoices, Forgetting, Order, Plan
from parachute.ops.forget.recognizing import check_not_ours
from parachute.ops.forget.surveying import asked, held, survey
from parachute.ops.forget.words import Words
from parachute.security.audit.service import Audit

log = logging.getLogger(__name__)

_PLANS = 8
_REMOVING = ("rows", "blanked", "removed", "chained")


class Forget:
    """One removal at a time. `delete` removes a conversation with all that runs in it; `begin_anew` has everything ended and started."""

    def __init__(
        self,
        home: Home,
        vault: Path,
        audit: Audit,
        clock: Clock,
        delete: Callable[[str], Awaitable[object]],
        begin_anew: Callable[[], Awaitable[object]],
    ) -> None:
        self._home, self._vault = home, vault
        self._audit, self._clock = audit, clock
        self._delete, self._begin_anew = delete, begin_anew
        self._plans: dict[str, tuple[Plan, Words]] = {}
        self._searching = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Go on with conversations whose removal was cut off."""
        with contextlib.suppress(ParachuteError):
            order = await asyncio.to_thread(ordering.read_order, self._home.root)
            if order is not None and order.phase == "conversations":
                self._task = asyncio.create_task(self._carry_out(order), name="forgetting")

    async def close(self) -> None:
        """Leave the rest to the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def state(self) -> Forgetting:
        """The last report, and whether anything waits. Error: Conflict for files that cannot be read."""
        order = await asyncio.to_thread(ordering.read_order, self._home.root)
        last = await asyncio.to_thread(ordering.read_report, self._home.root)
        return Forgetting(order is not None, order.problem if order else None, last)

    async def plan(self, typed: str) -> Plan:
        """Survey everything; nothing changes. Errors: InvalidInput, Conflict while words are being forgotten."""
        words = Words(typed)
        modules = (self._vault / ".modules", self._home.root / "modules")
        await asyncio.to_thread(check_not_ours, words.text, modules)
        await self._check_free()
        plan = await self._surveyed(words)
        while len(self._plans) >= _PLANS:
            del self._plans[next(iter(self._plans))]
        self._plans[plan.id] = plan, words
        return plan

    async def apply(self, plan: str, digest: str, choices: Mapping[str, Choice], by: str) -> None:
        """Order what was chosen, and begin; there is no way back. Errors: NotFound, InvalidInput, and Conflict where anything changed since."""
        await self._check_free()
        if plan not in self._plans:
            raise NotFound("This plan is not known any more.", "Search for the words again.", key="no_such_plan")
        known, words = self._plans[plan]
        if digest != known.hash:
            raise Conflict("The plan is another one.", "Look at it again.", key="plan_changed")
        _check(known, choices)
        now = await self._surveyed(words)
        if now.hash != known.hash:
            raise Conflict("Something has changed since you looked.", "Search for the words again.", key="plan_changed")
        order = _order(known, words, choices, by)
        await self._check_free()
        await asyncio.to_thread(ordering.write_order, self._home.root, order)
        self._plans.clear()
        self._audit.append(
            event_type="forget",
            source_type="user",
            source_id=by,
            target_module="forget",
            target_endpoint=f"{len(choices)} choices",
        )
        self._task = asyncio.create_task(self._carry_out(order), name="forgetting")

    async def _surveyed(self, words: Words) -> Plan:
        async with self._searching:
            return await asyncio.to_thread(self._survey, words)

    def _survey(self, words: Words) -> Plan:
        found = survey(self._home.root, self._vault, words)
        findings = asked(self._vault, words, found)
        digest = hashlib.sha256(msgspec.json.encode(sorted((each.id, each.passage) for each in findings))).hexdigest()
        removed = [file for file in found.found if file.place.treatment in _REMOVING]
        kept = [file for file in found.found if file.place.treatment == "kept"]
        return Plan(secrets.token_hex(8), digest, findings, held(removed), held(kept), self._backups())

    def _backups(self) -> list[BackupsHold]:
        settings = load(self._home).backup
        found = [BackupsHold(str(path), None) for path in getattr(swap_note.read(self._home.root), "kept", [])]
        if settings.repository:
            from parachute.ops.backup.access import Access

            shown = Access(settings.repository, self._home.root).shown
            found.append(BackupsHold(shown, as_text(_end(settings, self._clock.now()))))
        return found

    async def _check_free(self) -> None:
        if (await self.state()).is_under_way:
            raise Conflict(
                "Words are being forgotten.",
                "Wait until the computer is back; `parachute restart` goes on.",
                key="busy",
            )

    async def _carry_out(self, order: Order) -> None:
        for session in order.sessions:
            try:
                await self._delete(session)
            except NotFound:
                pass  # its files go with the others
            except (ParachuteError, OSError) as error:
                log.error("A conversation cannot be removed yet: %s", type(error).__name__)
        order.phase = "files"
        await asyncio.to_thread(ordering.write_order, self._home.root, order)
        try:
            await self._begin_anew()
        except ParachuteError as error:
            log.error("Forgetting waits for a restart: %s", error)


def _check(plan: Plan, choices: Mapping[str, Choice]) -> None:
    known = {each.id: each for each in plan.asked}
    if missing := known.keys() - choices.keys():
        raise InvalidInput(
            f"choices: {len(missing)} places have no choice.", "Choose for each, also `leave`.", key="choices_missing"
        )
    for each, choice in choices.items():
        if each not in known or choice not in known[each].choices:
            raise InvalidInput(f"choices: {choice} is no choice for {each[:40]!r}.", key="no_such_choice")


def _order(plan: Plan, words: Words, choices: Mapping[str, Choice], by: str) -> Order:
    order = Order(words.text, by, "conversations", [], [], {}, [], plan.backups)
    for each in plan.asked:
        choice = choices[each.id]
        if each.kind == "conversations":
            (order.left_sessions if choice == "leave" else order.sessions).append(each.place)
            continue
        if choice == "leave":
            order.left_files.append(each.place)
            continue
        file = order.files.setdefault(each.place, FileChoices())
        if choice == "file":
            file.removes = True
        elif choice == "entry":
            file.entries.append(each.title)
        else:
            file.lines.append(each.line)
    order.left_files = [
        place for place in dict.fromkeys(order.left_files) if not (place in order.files and order.files[place].removes)
    ]
    return order


def _end(settings: BackupSettings, moment: datetime) -> datetime:
    """The day by which retention has removed every backup that was made before, if backups go on being made."""
    return moment + timedelta(days=max(settings.keep_daily, 7 * settings.keep_weekly, 31 * settings.keep_monthly))
