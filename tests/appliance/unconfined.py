"""Makes the hostile module's attempts without any confinement, in a home that looks like the user's: `unconfined.py MODULE`.

It prints as JSON what came of them. An attempt that fails here as well would show nothing when it fails in the module.
"""

import json
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = (
    *(".parachute/keys.yaml", ".parachute/modules.yaml", ".parachute/modules/reading/module.py", "secret"),
    *(".parachute/module-data/reading/storage.db", ".parachute/run/module/prober/spec.json"),
    *("Parachute/Brain/entity.md", "Parachute/Reading/note.md"),
)
FOLDERS = ("Parachute/Probes", ".parachute/module-data/prober")
SOCKETS = (
    *("run/supervisor.sock", "run/module/reading/host.sock"),
    *("run/module/reading/core/core.sock", "run/module/prober/core/core.sock"),
)


def main() -> None:
    """Print one JSON object."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        home = Path(folder)
        # What is said to be the process of core is ended in one of the attempts.
        with subprocess.Popen(["sleep", "600"]) as core:
            listeners = furnish(home)
            code = home / ".parachute" / "modules" / "prober" / "code"
            shutil.copytree(sys.argv[1], code)
            sys.path.insert(0, str(code))
            import attempts

            json.dump(attempts.outcomes(str(home), str(home / "Parachute"), 3333, core.pid), sys.stdout)
            core.kill()
        for listener in listeners:
            listener.close()


def furnish(home: Path) -> list[socket.socket]:
    """Put everything into a home that the attempts look for; the sockets listen."""
    for name in FILES:
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    for name in FOLDERS:
        (home / name).mkdir(parents=True, exist_ok=True)
    listeners = []
    for name in SOCKETS:
        path = home / ".parachute" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen()
        listeners.append(listener)
    return listeners


if __name__ == "__main__":
    main()
