"""Containers that are launched by hand, with a Podman in its place that does something else before; in the guest only."""

import os
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from parachute.config.settings.home import Home
from parachute.config.settings.store import load
from parachute.sandbox.engines import containers
from parachute.sandbox.engines.engines import trial
from parachute.sandbox.engines.models import Mount, Specification


def specified(home: Home, folder: Path, *, writable: bool = False) -> Specification:
    """A container that has the folder's `project`, and whose program runs what it is given."""
    for made in ("project", "sockets", "transcripts", "bin"):
        (folder / made).mkdir(parents=True)
    program = folder / "program"
    program.write_text('#!/bin/sh\nexec "$@"\n')
    program.chmod(0o755)
    image = containers.image_of(home)
    assert image is not None
    return replace(
        trial(home, load(home).sandbox, image.id),
        session=str(uuid.uuid4()),
        mounts=(Mount(str(folder / "project"), "/project", writable=writable),),
        sockets=str(folder / "sockets"),
        transcripts=str(folder / "transcripts"),
        transcripts_target="/home/agent/.claude/projects/x",
        program=str(program),
    )


@contextmanager
def launched(
    home: Home, folder: Path, specification: Specification, path: Path, before: str = ""
) -> Iterator[subprocess.Popen[str]]:
    """The launcher, waiting for connections at `path`; lines of shell come `before` Podman, whose arguments are theirs."""
    specification.save(home.sandboxes)
    podman = folder / "bin/podman"
    podman.write_text(f'#!/bin/sh\n{before}\nexec /usr/bin/podman "$@"\n')
    podman.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        command = [sys.executable, "-m", "parachute.sandbox.engines.launch", specification.session]
        launcher = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{listener.fileno()}', "sh", *command],
            env={**os.environ, "PATH": f"{podman.parent}:{os.environ['PATH']}"},
            pass_fds=(listener.fileno(),),
            stderr=subprocess.PIPE,
            text=True,
        )
    try:
        yield launcher
    finally:
        launcher.terminate()
        launcher.wait(60)
        path.unlink()
        (home.sandboxes / f"{specification.session}.json").unlink()
