"""Keys that are not in use any more: they do not expire."""

from datetime import UTC, datetime, timedelta

from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.keys import read_browsers, read_keys
from parachute.ops.doctor.models import Group, Result, check, ok, warning

_UNUSED = timedelta(days=180)


@check("Keys", Group.ACCESS)
def examine(computer: Computer) -> Result:
    found = read_keys(computer)
    keys = found.keys
    read_browsers(computer)  # they end by themselves; a file that is not understood lets none in
    if found.refused:
        return warning(
            "Entries of keys.yaml have mistakes and are ignored.",
            "Fix them in an editor; this takes effect at once.",
            details=tuple(each.sentence for each in found.refused),
        )
    if not keys:
        return ok("No keys exist.")
    now = datetime.now(UTC)
    idle = [key for key in keys if (key.last_used_at or key.created_at) and now - key.since > _UNUSED]
    if idle:
        return warning(
            f"Keys were not used for half a year, and stay valid until you revoke them: {', '.join(key.label for key in idle)}.",
            "`parachute keys revoke NAME` ends one.",
            details=tuple(_described(key.label, key.last_used_at, key.created_at) for key in idle),
        )
    powerful = sum(any(scope.allows("*", "admin") for scope in key.scopes) for key in keys)
    return ok(f"{len(keys)} key{'s' if len(keys) > 1 else ''} in use, {powerful} of them with all rights.")


def _described(label: str, used: datetime | None, created: datetime | None) -> str:
    if used:
        return f"{label}: last used {used:%Y-%m-%d}"
    return f"{label}: never used{f', made {created:%Y-%m-%d}' if created else ''}"
