"""Whether containers of this installation are left that nothing uses."""

import json
from typing import Any

from parachute.doctor.computer import Computer
from parachute.doctor.models import Check, Fix, Group, NotApplicable, Result, ok, problem, warning
from parachute.doctor.podman import check_wanted
from parachute.doctor.programs import ask
from parachute.errors import Unavailable
from parachute.sandbox.podman import LABEL

_USED = ("starting", "running", "stopping")


def _examine(computer: Computer) -> Result:
    check_wanted(computer)
    if computer.supervisor_problem:
        raise NotApplicable("Which containers are in use cannot be told, because the supervisor does not answer.")
    try:
        left = _orphans(computer)
    except Unavailable as error:
        return problem(error.message, error.hint)
    if not left:
        return ok("No container is left behind.")
    names = ", ".join(left.values())
    return warning(
        f"Containers are left that no conversation uses: {names}.",
        "The next start removes them, or `parachute doctor containers --fix`.",
        fix=Fix(f"Remove the containers {names}; nothing of yours is in them.", lambda: _remove(computer, list(left))),
    )


def _orphans(computer: Computer) -> dict[str, str]:
    """Name by id of the containers with our label whose sandbox is not a unit that runs."""
    answer = ask(
        computer,
        *("podman", "ps", "--all", "--format", "json", f"--filter=label={LABEL}={computer.home.installation}"),
        seconds=15,
    )
    if answer.code != 0:
        raise Unavailable(
            f"Podman cannot list its containers: {answer.err[-300:] or 'it did not say why'}.",
            "`podman ps` shows more.",
        )
    rows: list[dict[str, Any]] = json.loads(answer.out or "[]")
    used = {
        unit["name"].removeprefix("sandbox@")
        for unit in (computer.supervisor or {"units": []})["units"]
        if unit["state"] in _USED
    }
    # One without a session in its name is a trial or a shell of somebody who is at it now.
    prefix = f"parachute-{computer.home.installation}-"
    found: dict[str, str] = {}
    for row in rows:
        name = str(row["Names"][0])
        if name.startswith(prefix) and name.removeprefix(prefix) not in used:
            found[str(row["Id"])] = name
    return found


def _remove(computer: Computer, identifiers: list[str]) -> str:
    # Looked up again: a conversation may have begun meanwhile.
    now = computer.asked_again()
    if now.supervisor_problem:
        raise now.supervisor_problem
    still = [each for each in _orphans(now) if each in identifiers]
    if still:
        answer = ask(computer, "podman", "rm", "--force", "--time=0", *still, seconds=60)
        if answer.code != 0:
            raise Unavailable(f"Podman cannot remove them: {answer.err[-300:]}.", "`podman ps --all` shows them.")
    return f"{len(still)} of them are gone."


CHECK = Check("Containers left behind", Group.AGENTS, _examine)
