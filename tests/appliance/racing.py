"""Starts a container twice, the second time with another folder in the place of what it was to get: `racing.py`.

It prints as JSON how both ended. The exchange happens after the launcher has looked at the folder and before Podman does.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import parachute_runner

from parachute.config.settings.home import Home
from tests.appliance.launching import launched, specified

WRAPPER = Path(parachute_runner.__path__[0]) / "wrapper.py"


def main() -> None:
    """Print one JSON object."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        ended = {name: outcome(Home.find(), Path(place, name)) for name in ("undisturbed", "exchanged")}
    json.dump(ended, sys.stdout)


def outcome(home: Home, folder: Path) -> dict[str, str]:
    """The agent's reading of the project, and the launcher's output."""
    specification = specified(home, folder)
    (folder / "project/note").write_text("a note")
    (folder / "secret").mkdir()
    (folder / "secret/note").write_text("a secret")
    exchange = f'mv "{folder}/project" "{folder}/away"; ln -s secret "{folder}/project"'
    path = folder / "agent.sock"
    with launched(home, folder, specification, path, exchange if folder.name == "exchanged" else "") as launcher:
        agent = subprocess.run(
            [sys.executable, "-IS", str(WRAPPER), "cat", "/project/note"],
            env={"PARACHUTE_AGENT_SOCKET": str(path), "PARACHUTE_AGENT_DIRECTORY": "/"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        launcher.terminate()
        _, said = launcher.communicate(timeout=60)
    return {"read": agent.stdout, "said": said}


if __name__ == "__main__":
    main()
