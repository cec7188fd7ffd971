"""Limits of one session's sandbox."""

from typing import Any

from msgspec import Struct, to_builtins


class Limits(Struct, frozen=True):
    """Limits that were chosen for a session; None leaves one to the engine's own default.

    `memory_megabytes` is for the whole sandbox, `cpus` counts processors (0.5 is half of one), `processes` counts threads as well.
    bubblewrap holds `processes` only: it has no control group of its own.
    """

    memory_megabytes: int | None = None
    cpus: float | None = None
    processes: int | None = None

    def chosen(self) -> dict[str, Any]:
        """Those that were chosen, by the names that the specification of a sandbox has for them."""
        return {name: value for name, value in to_builtins(self).items() if value is not None}


NO_LIMITS = Limits()
