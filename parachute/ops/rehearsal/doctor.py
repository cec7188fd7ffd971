"""The doctor on the copies: what it finds with the new version, and did not find with the running one."""

import json
import subprocess
from collections.abc import Mapping
from typing import Any

from parachute.ops.rehearsal import confined
from parachute.ops.rehearsal.models import Check

_SECONDS = 100.0
_PROBLEM = "problem"


class NotExamined(Exception):
    """The doctor gave no result; the text is a sentence."""


def answer(python: str, arguments: list[str], environment: Mapping[str, str]) -> Any:
    """Return the JSON that a command of `parachute` prints; error: NotExamined."""
    command = " ".join(("parachute", *arguments))
    try:
        ended = subprocess.run(
            confined.command([python, "-m", "parachute.cli", *arguments]),
            env=dict(environment),
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotExamined(f"`{command}` did not come to an end: {error}.") from error
    try:
        return json.loads(ended.stdout)
    except ValueError as error:
        said = ended.stderr.strip().splitlines()
        raise NotExamined(f"`{command}` ended with {ended.returncode}: {' '.join(said[-3:])[:500]}") from error


def examined(python: str, environment: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the checks of `parachute doctor` by their ids; error: NotExamined."""
    document = answer(python, ["doctor", "--json"], environment)
    try:
        return {str(check["id"]): dict(check) for check in document["checks"]}
    except (LookupError, TypeError, ValueError) as error:
        raise NotExamined("`parachute doctor --json` prints something else than its checks.") from error


def compared(before: dict[str, dict[str, Any]], known: frozenset[str], after: dict[str, dict[str, Any]]) -> Check:
    """Compare what was found on the same copies; `known` are the ids of problems that the running computer has."""
    old = known | {name for name, check in before.items() if check.get("result") == _PROBLEM}
    new = [check for name, check in after.items() if check.get("result") == _PROBLEM and name not in old]
    if new:
        names = ", ".join(str(check["id"]) for check in new)
        lines = [f"{check['id']}: {check.get('message')} {check.get('next') or ''}".strip() for check in new]
        return Check(
            "doctor",
            False,
            f"The doctor finds with the new version what it did not find before: {names}.",
            "\n".join(lines),
        )
    return Check("doctor", True, f"The doctor finds nothing new in {len(after)} checks.")
