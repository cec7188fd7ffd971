"""Limits of one session's sandbox."""

from parachute.base.answers import Answer


class Limits(Answer, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Limits that were chosen for a session; None leaves one to the engine's own default.

    `memory_megabytes` is for the whole sandbox, `cpus` counts processors (0.5 is half of one), `processes` counts threads as well.
    bubblewrap holds `processes` only: it has no control group of its own.
    """

    memory_megabytes: int | None = None
    cpus: float | None = None
    processes: int | None = None


NO_LIMITS = Limits()
