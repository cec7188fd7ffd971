"""`python -m parachute.ops.rehearsal --python INTERPRETER`: is what that interpreter runs fit to take over this computer?

0 if it is, 1 if it is not, 3 where nothing can be rehearsed, 2 if the rehearsal could not be begun. With `--json` there is a line for each
check, and one for the result.
"""

import argparse
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from msgspec import to_builtins
from parachute_runner import processes

from parachute.base.errors import ParachuteError
from parachute.config.settings.home import Home
from parachute.ops.rehearsal.models import Check, Rehearsal
from parachute.ops.rehearsal.performing import perform

_NICE = 10
_PASSED, _FAILED, _NOT_BEGUN, _IMPOSSIBLE = range(4)


def main() -> int:
    """Rehearse, and print how it goes."""
    parser = argparse.ArgumentParser(prog="python -m parachute.ops.rehearsal")
    parser.add_argument("--home", type=Path)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument(
        "--declared", type=Path, help="what the system will declare to it, instead of what it declares now"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    # Who ends us has the copies removed first; who started us and is gone would not see the result.
    signal.signal(signal.SIGTERM, _end)
    processes.end_with_parent(signal.SIGTERM)
    os.nice(_NICE)
    os.umask(0o077)
    home = Home(options.home.absolute()) if options.home else Home.find()
    try:
        result = perform(home, options.python, lambda check: _print(options.json, check), options.declared)
    except (ParachuteError, OSError) as error:
        return _refused(options.json, error)
    _print(options.json, result)
    if result.impossible is not None:
        return _IMPOSSIBLE
    return _PASSED if result.ok else _FAILED


def _print(as_json: bool, found: Check | Rehearsal) -> None:
    if as_json:
        shown = to_builtins(found)
        _say(json.dumps({"check": shown} if isinstance(found, Check) else {"result": {"passed": found.ok, **shown}}))
    elif isinstance(found, Check):
        _say(f"{'ok    ' if found.ok else 'FAILED'}  {found.sentence}")
        if found.detail:
            _say("\n".join(f"        {line}" for line in found.detail.splitlines()))
    elif found.impossible is not None:
        _say(f"Nothing can be rehearsed here: {found.impossible}")
    else:
        for change in found.changes:
            _say(f"change  {change}")
        _say(
            "The new version may take over." if found.ok else "The new version must not take over; nothing has changed."
        )


def _refused(as_json: bool, error: ParachuteError | OSError) -> int:
    found = (
        error
        if isinstance(error, ParachuteError)
        else ParachuteError(f"The rehearsal cannot be begun: {error}.", key="rehearsal_not_begun")
    )
    if as_json:
        document: dict[str, Any] = {"error": found.as_json()}
        _say(json.dumps(document))
    else:
        print(f"Error: {found}", file=sys.stderr)  # noqa: T201
    return _NOT_BEGUN


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def _end(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
