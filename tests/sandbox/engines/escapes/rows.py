"""Reading what came of the attempts."""

import json
from collections.abc import Collection

from tests.sandbox.engines.escapes.planting import ATTEMPTS

_ABSENT = ("refused: ENOSYS", "refused: EAFNOSUPPORT")  # this kernel was built without it

INSIDE = ("-ISB", f"/vault/{ATTEMPTS}/run.py", f"/vault/{ATTEMPTS}/inside.json")
"""Arguments of the interpreter in a sandbox."""


def outside(vault: str) -> tuple[str, ...]:
    """Arguments of the interpreter outside of every sandbox: the control."""
    return ("-ISB", f"{vault}/{ATTEMPTS}/run.py", f"{vault}/{ATTEMPTS}/outside.json")


def not_refused(said: str) -> dict[str, str]:
    """The attempts of a sandbox that came through, or went wrong, by name."""
    return {name: outcome for name, (_, outcome) in _read(said).items() if not outcome.startswith("refused: ")}


def not_through(said: str, controls: Collection[str], impossible: Collection[str] = ()) -> dict[str, str]:
    """The controls of these kinds that ought to come through and did not.

    Those that are `impossible` on a machine, and come through nevertheless, are in it as well.
    """
    found = {}
    for name, (control, outcome) in _read(said).items():
        came_through = outcome.startswith("through: ")
        if control in controls and came_through == (name in impossible) and outcome not in _ABSENT:
            found[name] = outcome
    return found


def _read(said: str) -> dict[str, tuple[str, str]]:
    rows: dict[str, tuple[str, str]] = json.loads(said)
    assert len(rows) > 80
    return rows
