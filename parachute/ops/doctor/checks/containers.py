"""Containers of this installation that nothing uses."""

import json
from typing import Any

from parachute.base.errors import Unavailable
from parachute.ops.doctor.computer import Computer
from parachute.ops.doctor.models import Fix, Group, NotApplicable, Result, check, ok, problem, warning
from parachute.ops.doctor.podman import check_wanted
from parachute.ops.doctor.programs import ask
from parachute.sandbox.engines.containers import without_unit
from parachute.sandbox.engines.podman import LABEL


@check("Containers left behind", Group.AGENTS)
def examine(computer: Computer) -> Result:
    check_wanted(computer)
    if computer.supervisor_problem:
        raise NotApplicable("The containers in use are unknown, because the supervisor does not answer.")
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
            f"Podman cannot list its containers: {answer.err[-300:] or 'no reason was given'}.",
            "`podman ps` shows more.",
            key="containers_not_listed",
        )
    rows: list[dict[str, Any]] = json.loads(answer.out or "[]")
    listed = {str(row["Id"]): str(row["Names"][0]) for row in rows}
    units = computer.supervisor["units"] if computer.supervisor else []
    return without_unit(computer.home.installation, listed, units)


def _remove(computer: Computer, identifiers: list[str]) -> str:
    # Looked up again: a conversation may have begun meanwhile.
    now = computer.refreshed()
    if now.supervisor_problem:
        raise now.supervisor_problem
    still = [each for each in _orphans(now) if each in identifiers]
    if still:
        command = ("podman", "rm", "--force", "--ignore", "--time=0", *still)
        answer = ask(computer, *command, seconds=60)
        if answer.code != 0:  # as for one whose monitor was killed, of which it notes first that it has ended
            answer = ask(computer, *command, seconds=60)
        if answer.code != 0:
            raise Unavailable(
                f"Podman cannot remove them: {answer.err[-300:]}.",
                "`podman ps --all` shows them.",
                key="containers_not_removed",
            )
    return f"{len(still)} of them are gone."
