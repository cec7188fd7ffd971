"""TLS on the computer's port, and the job that renews its certificate."""

from collections.abc import Sequence
from datetime import date

from parachute.events.scheduler.service import Job, Scheduler
from parachute.events.scheduler.times import TimeOfDay, last_due
from parachute.server.composition.lifecycle import Lifecycle
from parachute.server.composition.storage import Installation
from parachute.web.tls.service import Tls
from parachute.web.tls.wanted import is_wanted

_AT = TimeOfDay(4, 10)


async def build_tls(installation: Installation, scheduler: Scheduler, lifecycle: Lifecycle) -> Tls:
    """Use the certificate that there is; another is made in the night, or at once if there is none for an address of ours."""
    settings = installation.settings
    tls = await lifecycle.start(
        Tls(
            installation.home.root,
            enabled=is_wanted(settings),
            hostnames=settings.hostnames,
            certificate=settings.tls.certificate,
            key=settings.tls.key,
            clock=scheduler.clock,
        )
    )
    looked = last_due(_AT, scheduler.clock.now(), scheduler.clock.zone)

    async def run(day: date, again: bool) -> None:
        nonlocal looked
        looked = day
        await tls.renew(force=False)

    async def jobs() -> Sequence[Job]:
        if not tls.enabled:
            return ()
        due = scheduler.clock.now() if await tls.is_due() else None
        return (Job("certificate", _AT, looked, run, due),)

    scheduler.add(jobs)
    return tls
