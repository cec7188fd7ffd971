"""Starts a container twice, the second time with another folder in the place of what it was to get: `racing.py`.

It prints as JSON how both ended. The exchange happens after the launcher has looked at the folder and before Podman does.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import uuid
from dataclasses import replace
from pathlib import Path

import parachute_runner

from parachute.sandbox import containers
from parachute.sandbox.engines import trial
from parachute.sandbox.models import Mount, Specification
from parachute.settings.home import Home
from parachute.settings.store import load

WRAPPER = Path(parachute_runner.__path__[0]) / "wrapper.py"


def main() -> None:
    """Print one JSON object."""
    home = Home.find()
    image = containers.image_of(home)
    assert image is not None
    ended = {}
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        for name in ("undisturbed", "exchanged"):
            folder = Path(place, name)
            for made in ("project", "secret", "sockets", "transcripts", "bin"):
                (folder / made).mkdir(parents=True)
            (folder / "project/note").write_text("a note")
            (folder / "secret/note").write_text("a secret")
            program = folder / "program"
            program.write_text('#!/bin/sh\nexec "$@"\n')
            program.chmod(0o755)
            specification = replace(
                trial(home, load(home).sandbox, image.id),
                session=str(uuid.uuid4()),
                mounts=(Mount(str(folder / "project"), "/project"),),
                sockets=str(folder / "sockets"),
                transcripts=str(folder / "transcripts"),
                transcripts_target="/home/agent/.claude/projects/x",
                program=str(program),
            )
            ended[name] = outcome(home, folder, specification)
    json.dump(ended, sys.stdout)


def outcome(home: Home, folder: Path, specification: Specification) -> dict[str, str]:
    """What an agent reads in the project, and what the launcher says."""
    specification.save(home.sandboxes)
    environment = dict(os.environ)
    if folder.name == "exchanged":
        fake = folder / "bin/podman"
        fake.write_text(
            f'#!/bin/sh\nmv "{folder}/project" "{folder}/away"; ln -s secret "{folder}/project"\nexec /usr/bin/podman "$@"\n'
        )
        fake.chmod(0o755)
        environment["PATH"] = f"{folder}/bin:{environment['PATH']}"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "agent.sock"))
    listener.listen()
    command = [sys.executable, "-m", "parachute.sandbox.launch", specification.session]
    launcher = subprocess.Popen(
        ["sh", "-c", f'exec "$@" 3<&{listener.fileno()}', "sh", *command],
        env=environment,
        pass_fds=(listener.fileno(),),
        stderr=subprocess.PIPE,
        text=True,
    )
    listener.close()
    agent = subprocess.run(
        [sys.executable, "-IS", str(WRAPPER), "cat", "/project/note"],
        env={"PARACHUTE_AGENT_SOCKET": str(folder / "agent.sock"), "PARACHUTE_AGENT_DIRECTORY": "/"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    launcher.terminate()
    _, said = launcher.communicate(timeout=60)
    (home.sandboxes / f"{specification.session}.json").unlink()
    return {"read": agent.stdout, "said": said}


if __name__ == "__main__":
    main()
