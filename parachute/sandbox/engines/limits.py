"""How much of this machine one session's box may use."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Limits:
    """What somebody chose for a session; None leaves it to the engine's own default.

    `memory_megabytes` is for the whole box, `cpus` counts processors (0.5 is half of one), `processes` counts threads as well.
    bubblewrap holds `processes` only: it has no control group of its own.
    """

    memory_megabytes: int | None = None
    cpus: float | None = None
    processes: int | None = None

    def chosen(self) -> dict[str, Any]:
        """Those that were chosen, by the names that the specification of a box has for them."""
        return {name: value for name, value in asdict(self).items() if value is not None}


NO_LIMITS = Limits()
