"""Looks at a container, at one of a Podman that gives it this machine's network, and at a box of bubblewrap: `looking.py`.

It prints as JSON what was found of each.
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
from typing import Any

from parachute.sandbox import containers
from parachute.sandbox.engines import trial
from parachute.sandbox.explaining.service import explain
from parachute.sandbox.models import Mount, Specification
from parachute.settings.home import Home
from parachute.settings.store import load
from parachute.supervisor import units


def main() -> None:
    """Print one JSON object."""
    home = Home.find()
    image = containers.image_of(home)
    assert image is not None
    found = {}
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        for name in ("undisturbed", "networked", "bubblewrap"):
            folder = Path(place, name)
            for made in ("project", "sockets", "transcripts", "bin"):
                (folder / made).mkdir(parents=True)
            (folder / "program").write_text("#!/bin/sh\n")
            specification = replace(
                trial(home, load(home).sandbox, image.id),
                session=str(uuid.uuid4()),
                mounts=(Mount(str(folder / "project"), "/project", writable=True),),
                sockets=str(folder / "sockets"),
                transcripts=str(folder / "transcripts"),
                transcripts_target="/home/agent/.claude/projects/x",
                program=str(folder / "program"),
            )
            if name == "bubblewrap":
                specification = replace(specification, engine=name, image="", processes=1024)
            found[name] = looked_at(home, folder, specification)
    json.dump(found, sys.stdout)


def looked_at(home: Home, folder: Path, specification: Specification) -> dict[str, Any]:
    """What a look at a container of this specification finds."""
    specification.save(home.sandboxes)
    environment = dict(os.environ)
    if folder.name == "networked":
        fake = folder / "bin/podman"
        fake.write_text(
            "#!/bin/sh\n"
            'for each; do shift; [ "$each" = --network=none ] && each=--network=host; set -- "$@" "$each"; done\n'
            'exec /usr/bin/podman "$@"\n'
        )
        fake.chmod(0o755)
        environment["PATH"] = f"{folder}/bin:{environment['PATH']}"
    path = units.agent_socket(home, specification.session)
    path.parent.mkdir(parents=True, mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        command = [sys.executable, "-m", "parachute.sandbox.launch", specification.session]
        launcher = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{listener.fileno()}', "sh", *command],
            env=environment,
            pass_fds=(listener.fileno(),),
        )
    try:
        return explain(home, specification).as_json()
    finally:
        launcher.terminate()
        launcher.wait(60)
        path.unlink()
        path.parent.rmdir()
        (home.sandboxes / f"{specification.session}.json").unlink()


if __name__ == "__main__":
    main()
