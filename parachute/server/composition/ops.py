"""The wing `ops`: the doctor of the running server, logs and backups for devices."""

from functools import partial

from msgspec import Struct

from parachute.automation.maintenance.facts import Facts
from parachute.automation.suggestions.service import Suggestions
from parachute.ops.approvals.files import approval_files
from parachute.ops.approvals.service import Approvals
from parachute.ops.backup.drills import Drills
from parachute.ops.backup.jobs import BackupJobs
from parachute.ops.backup.restoring import Restores
from parachute.ops.doctor.examiner import Examiner
from parachute.ops.doctor.inbox import ProblemsSource
from parachute.ops.export.content import Content
from parachute.ops.export.service import Export
from parachute.ops.forget.service import Forget
from parachute.ops.logs.service import Logs
from parachute.ops.phone.service import Phone
from parachute.ops.settings.service import LiveSettings
from parachute.ops.updates.inbox import UpdatesSource
from parachute.ops.updates.nightly import Nightly
from parachute.ops.updates.orders import Orders
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.server.composition.chat import ChatServices, HistoryServices
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.llm import ModelServices
from parachute.server.composition.storage import Installation, Storage
from parachute.supervisor import control
from parachute.web.first_boot.service import FirstBoot


class OpsServices(Struct, frozen=True, kw_only=True):
    """Services for the operation of a running computer."""

    examiner: Examiner
    logs: Logs
    backups: BackupJobs
    restores: Restores
    settings: LiveSettings
    phone: Phone
    export: Export
    forget: Forget


def build_examiner(installation: Installation, events: EventServices, lifecycle: Lifecycle) -> Examiner:
    """Build what the parts below have look again when something of theirs fails, or works again."""

    def changed() -> None:
        events.inbox.changed()
        events.feed.changed("doctor")

    examiner = Examiner(installation.home, changed)
    lifecycle.closing(examiner.close)
    return examiner


async def build_ops(
    installation: Installation,
    storage: Storage,
    events: EventServices,
    examiner: Examiner,
    llm: ModelServices,
    chat: ChatServices,
    history: HistoryServices,
    suggestions: Suggestions,
    browsers: BrowserSessions,
    lifecycle: Lifecycle,
) -> OpsServices:
    """Start what examines the computer once a day, and what backs it up."""
    clock = installation.clock
    events.inbox.add(ProblemsSource(installation.home, examiner))
    events.scheduler.add(lambda: examiner.jobs(clock))
    backups = BackupJobs(installation.home, partial(events.feed.changed, "backups"), partial(examiner.soon, ["backup"]))
    lifecycle.closing(backups.close)
    drills = Drills(installation.home, backups)
    events.scheduler.add(lambda: drills.jobs(clock))
    begin_anew = partial(control.ask, installation.home, "begin_anew")
    restores = await lifecycle.start(Restores(installation.home, backups, storage.audit, browsers, begin_anew))
    forget = await lifecycle.start(
        Forget(installation.home, storage.vault.root, storage.audit, clock, chat.runs.delete, begin_anew)
    )
    await lifecycle.start(
        Approvals(storage.audit, installation.home.known_approvals, approval_files(installation.home), clock)
    )
    logs = Logs(installation.home, Facts(chat.agents, installation.modules).secrets)
    settings = LiveSettings(installation.home, installation.settings, llm.gateway)
    phone = await lifecycle.start(
        Phone(
            installation.home,
            installation.settings,
            installation.keys,
            browsers,
            FirstBoot(installation.home.root, installation.keys),
            lambda host: control.ask(installation.home, "listen_on", host=host),
            clock,
        )
    )
    events.inbox.add(UpdatesSource(installation.home))
    await Orders(installation.home).take_up()
    if installation.settings.updates.automatic:
        events.scheduler.add(Nightly(installation.home, installation.settings.updates.time, clock).jobs)
    export = Export(Content(storage.vault, history.brought, suggestions), storage.audit)
    return OpsServices(
        examiner=examiner,
        logs=logs,
        backups=backups,
        restores=restores,
        settings=settings,
        phone=phone,
        export=export,
        forget=forget,
    )
