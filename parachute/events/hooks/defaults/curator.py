"""A hook for context.review: the curator reviews every context that watches one which has changed.

To change it, copy this file to ~/.parachute/hooks/on-context-review.py, take the entry out of ~/.parachute/hooks.yaml, and run
`parachute hooks approve`. What it prints as `review` are those of `watchers` that are reviewed; exit code 2 stops all of them.
"""

import json
import sys
from typing import Any


def answer(event: dict[str, Any]) -> dict[str, list[str]]:
    """The contexts that are to be reviewed: all of them. Errors: KeyError and TypeError for another event."""
    return {"review": list(event["data"]["watchers"])}


def main() -> int:
    """Read the event from standard input; the exit code is 1 if it cannot be answered."""
    try:
        json.dump(answer(json.load(sys.stdin)), sys.stdout)
    except (ValueError, KeyError, TypeError) as error:
        sys.stderr.write(f"This is not a review: {error!r}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
