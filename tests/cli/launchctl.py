"""Fake of `launchctl` for the command line: it loads agents from their files, starts and ends them.

It stands in a folder of its own, where it writes what it was asked; a file `refuses` there names what it refuses.
"""

import json
import os
import plistlib
import signal
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(sys.argv[0]).parent
LOADED, PROCESS = FOLDER / "loaded.plist", FOLDER / "process"


def start() -> None:
    agent = plistlib.loads(LOADED.read_bytes())
    variables = {"HOME": os.environ["HOME"], "PATH": "/usr/bin:/bin", **agent["EnvironmentVariables"]}
    # As launchd names to each process the job that it is.
    variables["XPC_SERVICE_NAME"] = agent["Label"]
    with Path(agent["StandardOutPath"]).open("ab") as log:
        process = subprocess.Popen(
            agent["ProgramArguments"],
            env=variables,
            cwd=agent["WorkingDirectory"],
            umask=agent["Umask"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    PROCESS.write_text(str(process.pid))


def end() -> None:
    process = int(PROCESS.read_text())
    try:
        os.kill(process, signal.SIGTERM)
        while True:  # it is no child of this process, so that nothing tells of its end
            os.kill(process, 0)
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return
            time.sleep(0.01)
    except (ProcessLookupError, FileNotFoundError):
        return


def main() -> int:
    verb, *rest = sys.argv[1:]
    with (FOLDER / "asked").open("a") as file:
        file.write(json.dumps([verb, *rest]) + "\n")
    refuses = FOLDER / "refuses"
    if refuses.exists() and refuses.read_text() == verb:
        sys.stderr.write("Bootstrap failed: 5: Input/output error\n")
        return 5
    if verb in ("print", "kickstart", "bootout") and not LOADED.exists():
        return 113
    if verb == "bootstrap":
        if LOADED.exists():
            return 5
        LOADED.write_bytes(Path(rest[1]).read_bytes())
        start()
    elif verb == "kickstart":
        start()
    elif verb == "bootout":
        end()
        LOADED.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
