"""Words for what modules do, and what each of them means."""

from typing import TYPE_CHECKING

from parachute.cli.output import print_note

if TYPE_CHECKING:
    from parachute.modules.models import ModuleStatus
    from parachute.settings.home import Home

STATES = {
    "ready": ("ready", "It was approved, and nothing keeps it from starting. Shown while the computer is stopped."),
    "disabled": ("disabled", "You switched it off."),
    "pending_approval": ("waits for approval", "Its files in the vault are not those that you approved."),
    "missing": ("missing", "Its folder in the vault is gone."),
    "damaged": ("damaged", "The copy that would run is not what you approved."),
    "installing": ("installing", "The system's configuration declares it, and it is being installed."),
    "not_installed": ("not installed", "A folder in the vault that nobody approved on this computer."),
}
"""For each state of a module the word for it, and what it means."""

UNIT_STATES = {
    "listening": ("asleep", "Nothing runs; the next request or event starts it."),
    "starting": ("starting", "Its process has begun, and does not answer yet."),
    "running": ("running", "Its process answers."),
    "stopping": ("stopping", "Its process is about to end."),
    "stopped": ("stopped", "It has no process, and gets none before the reason is gone."),
    "failed": ("failed", "It failed again and again, and stays down until you enable it."),
}
"""The same of its process, while the computer runs."""


def state_word(status: "ModuleStatus") -> str:
    """What a module does, or what keeps it from starting, in a word or two."""
    word = STATES[status.state][0]
    if status.unit is None:
        return word
    doing = UNIT_STATES.get(status.unit.state, (status.unit.state, ""))[0]
    if status.state == "ready":
        return doing
    # What was approved before goes on running.
    return f"{word}, still running" if status.unit.process else word


def sentence_of(status: "ModuleStatus") -> str:
    """The same with the reason."""
    reason = status.reason or (
        status.unit.reason if status.unit and status.unit.state in ("failed", "stopped") else None
    )
    sentence = f"{state_word(status)}: {reason}" if reason else state_word(status)
    if status.state == "pending_approval":
        sentence += f" See it with `parachute modules diff {status.name}`, approve it with `parachute modules approve {status.name}`."
    return sentence


def with_units(home: "Home", found: "list[ModuleStatus]") -> "list[ModuleStatus]":
    """The same with what a running core says of their processes; as they are if nothing runs."""
    from parachute.cli.api import Api
    from parachute.errors import ParachuteError, Unavailable

    try:
        api = Api.find(home)
    except Unavailable:
        return found
    try:
        rows = {row["name"]: row for row in api.get("/api/modules")["modules"]}
    except ParachuteError as error:
        print_note(f"The running computer does not say what its modules do: {error.message}")
        return found
    return [status.told(rows[status.name]) if status.name in rows else status for status in found]
