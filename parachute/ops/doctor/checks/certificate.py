"""The certificates for https: valid, complete, and renewed in time."""

from datetime import UTC, datetime, timedelta

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Group, NotApplicable, Result, check, ok, problem, settings_of, warning
from parachute.web.tls.models import Certificate
from parachute.web.tls.store import Store
from parachute.web.tls.wanted import is_wanted

_SOON = timedelta(days=14)


@check("Certificate for https", Group.ACCESS)
def examine(computer: Computer) -> Result:
    settings = settings_of(computer, "whether https is answered")
    if not is_wanted(settings):
        raise NotApplicable("https is off, as only this machine can connect or the settings say so.")
    issued = Store(computer.home.root).read()
    if issued is None:
        if not computer.core_runs:
            raise NotApplicable("The first start makes the certificate.")
        return warning("There is no certificate yet.", "`parachute tls renew` makes one, or says why it cannot.")
    now = datetime.now(UTC)
    if computer.core_runs and _left(issued.certificate, now) <= timedelta():
        return problem(
            "The certificate for https has expired.", "`parachute tls renew` makes another, or says why not."
        )
    if settings.tls.certificate is not None:
        if issued.own is None:
            return problem(
                issued.own_problem or f"{settings.tls.certificate} was not read yet.",
                "Put the certificate there, as PEM, where your user can read it.",
            )
        if (left := _left(issued.own, now)) <= _SOON:
            say = problem if left <= timedelta() else warning
            return say(
                f"The certificate {settings.tls.certificate} is valid until {issued.own.expires_at[:10]} only.",
                "Have the program that gets it renew it; the new one is taken without a restart.",
            )
    if issued.left_out:
        return warning(
            f"The certificate lacks names that its authority may not sign: {', '.join(issued.left_out)}.",
            "`parachute tls renew --authority` makes another authority, which each device must then trust.",
        )
    return ok(f"The certificate for https is valid until {issued.certificate.expires_at[:10]}.")


def _left(certificate: Certificate, now: datetime) -> timedelta:
    return datetime.fromisoformat(certificate.expires_at) - now
