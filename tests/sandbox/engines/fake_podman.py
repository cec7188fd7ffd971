"""A Podman at its command line, for machines where none can run: containers are bubblewrap's, and what it records is believable.

`FAKE_PODMAN_IGNORES=network,read-only` leaves out what it was asked to do, and still records that it has done it.
"""

import csv
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

from parachute.sandbox.engines import bubblewrap

FOLDER = Path(os.environ["FAKE_PODMAN_FOLDER"])


def main() -> None:
    """Do what the arguments say."""
    operation, arguments = sys.argv[1], sys.argv[2:]
    if operation == "run":
        run(arguments)
    elif sys.argv[1:3] == ["container", "inspect"]:
        json.dump([inspected(arguments[1])], sys.stdout)


def run(arguments: list[str]) -> None:
    """Become a container; the trial of an image is none, and succeeds."""
    options, bare, mounts, rest = parsed(arguments)
    if any(each.endswith("probe.py") for each in rest):
        return
    ignored = os.environ.get("FAKE_PODMAN_IGNORES", "").split(",")
    isolation = [each for each in bubblewrap.ISOLATION if each != "--unshare-net" or "network" not in ignored]
    command = ["bwrap", *isolation, *bubblewrap.system_files(), *bubblewrap.kernel_files()]
    command += ["--ro-bind", str(FOLDER / "recipe"), "/etc/parachute-recipe"]
    for folder, size in options["tmpfs"].items():
        command += ["--perms", "1777", "--size", str(int(size) << 20), "--tmpfs", folder]
    for each in mounts:
        command += ["--bind" if "rw" in each else "--ro-bind", each["source"], each["target"]]
    if "read-only" not in ignored:
        command += ["--remount-ro", "/dev", "--remount-ro", "/"]
    for name, value in {**options["env"], "LISTEN_FDS": "1", "container": "podman"}.items():
        command += ["--setenv", name, value]
    record = {
        "Id": "c" * 64,
        "Image": rest[0],
        "State": {"Status": "running", "Pid": os.getpid()},
        "Config": {"User": options["user"], "Env": [f"{name}={value}" for name, value in options["env"].items()]},
        "HostConfig": {
            "NetworkMode": options["network"],
            "ReadonlyRootfs": "--read-only" in bare,
            "SecurityOpt": [options["security-opt"]],
            "PidsLimit": int(options["pids-limit"]),
            "Tmpfs": {folder: f"rw,size={size}m" for folder, size in options["tmpfs"].items()},
        },
        "EffectiveCaps": [],
        "BoundingCaps": [],
        "Mounts": [
            {"Type": "bind", "Source": each["source"], "Destination": each["target"], "RW": "rw" in each}
            for each in mounts
        ],
    }
    (FOLDER / options["name"]).write_text(json.dumps(record))
    os.execvp("bwrap", [*command, "--", *rest[1:]])


def parsed(arguments: list[str]) -> tuple[dict[str, Any], set[str], list[dict[str, str]], list[str]]:
    """Options with a value, options without, mounts, and from the image on."""
    options: dict[str, Any] = {"tmpfs": {}, "env": {}}
    bare: set[str] = set()
    mounts = []
    while arguments[0].startswith("--"):
        argument = arguments.pop(0)
        name, _, value = argument.removeprefix("--").partition("=")
        if argument == "--mount":
            (fields,) = csv.reader(io.StringIO(arguments.pop(0), newline=""), strict=True)
            mounts.append(dict(field.partition("=")[::2] for field in fields))
        elif name == "tmpfs":
            folder, _, text = value.partition(":")
            options["tmpfs"][folder] = text.split("size=")[1].split("m,")[0]
        elif name == "env":
            key, _, text = value.partition("=")
            options["env"][key] = text
        elif value:
            options[name] = value
        else:
            bare.add(argument)
    return options, bare, mounts, arguments


def inspected(name: str) -> dict[str, Any]:
    """The record of a container, with the process that runs in it."""
    record: dict[str, Any] = json.loads((FOLDER / name).read_text())
    own = record["State"]["Pid"]
    (first,) = Path(f"/proc/{own}/task/{own}/children").read_text().split()
    record["State"]["Pid"] = int(first)
    return record


if __name__ == "__main__":
    main()
