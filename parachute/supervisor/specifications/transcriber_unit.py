"""The unit of the process that transcribes on this machine, confined to its program and the model's folder."""

from collections.abc import Mapping
from pathlib import Path

from parachute.base.errors import InvalidInput
from parachute.supervisor.models import Confinement, Unit
from parachute.supervisor.specifications.module_unit import Child, private

SETTINGS = frozenset(
    {
        "PARACHUTE_VOICE_MODEL",
        "PARACHUTE_VOICE_KIND",
        "PARACHUTE_VOICE_IDLE_SECONDS",
        "PARACHUTE_VOICE_MEMORY_MEGABYTES",
    }
)

_PACKAGE = "parachute.automation.transcription"
_THREADS = 256


def unit(root: Path, socket: Path, environment: Mapping[str, str], child: Child, *, confines: bool) -> Unit:
    """Return the unit; the process is started in bubblewrap where nobody else enforces the confinement. Error: InvalidInput without a model."""
    model, memory = (
        environment.get("PARACHUTE_VOICE_MODEL", ""),
        environment.get("PARACHUTE_VOICE_MEMORY_MEGABYTES", ""),
    )
    if not model.startswith("/") or not memory.isdecimal():
        raise InvalidInput(
            "The transcriber needs the folder of its model and a bound of its memory.", key="transcriber_incomplete"
        )
    return Unit(
        "transcriber",
        child(f"{_PACKAGE}.process" if confines else f"{_PACKAGE}.launch"),
        listen=(socket,),
        on_demand=True,
        stop_seconds=5,
        environment=dict(environment),
        confinement=Confinement(
            read=(Path(model),), hide=private(root), memory_bytes=int(memory) << 20, processes=_THREADS
        ),
    )
