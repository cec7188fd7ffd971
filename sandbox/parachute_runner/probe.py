"""Run once in a container of the image: exits with 0 if it is shut in as was asked, else with 1 and a sentence.

probe.py [--limits JSON]
"""

import argparse
import json
import os
import shutil
import sys

if not __package__:  # started by path, with -IS, inside a sandbox that has no installed packages
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from parachute_runner import checks

_MARK = "/etc/parachute-recipe"
_PROGRAMS = ("bash", "git", "node", "python3", "rg")


def main() -> int:
    """Check everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--limits", type=json.loads, default={})
    options = parser.parse_args()
    try:
        checks.shut_in()
        checks.limited(options.limits)
        _complete()
    except checks.Differs as error:
        print(f"in the container {error}")
        return 1
    return 0


def _complete() -> None:
    if not os.path.isfile(_MARK):
        raise checks.Differs("is no image of this computer")
    if missing := [name for name in _PROGRAMS if not shutil.which(name)]:
        raise checks.Differs(f"programs are missing: {', '.join(missing)}")
    for folder in ("/tmp", "/run", os.path.expanduser("~"), os.path.expanduser("~/.claude/projects")):
        if not os.access(folder, os.W_OK):
            raise checks.Differs(f"{folder} cannot be written")


if __name__ == "__main__":
    sys.exit(main())
