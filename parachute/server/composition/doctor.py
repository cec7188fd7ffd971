"""The doctor of the running server."""

from parachute.ops.doctor.examiner import Examiner
from parachute.ops.doctor.inbox import ProblemsSource
from parachute.server.composition.events import EventServices
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.llm import ModelServices
from parachute.server.composition.storage import Installation


def build_doctor(
    installation: Installation, events: EventServices, llm: ModelServices, lifecycle: Lifecycle
) -> Examiner:
    """Examine the computer once a day, and the login whenever it could not be refreshed, or could again."""
    examiner = Examiner(installation.home, events.inbox.changed)
    lifecycle.closing(examiner.close)
    events.inbox.add(ProblemsSource(installation.home, examiner))
    events.scheduler.add(lambda: examiner.jobs(events.scheduler.clock))
    llm.gateway.upstream.login.changed = lambda: examiner.soon(["credentials"])
    return examiner
