"""The conformance suite of MCP, and what it said: its exit status is no answer, since it passes a scenario in which it checked nothing."""

import json
import os
import subprocess
from pathlib import Path

from tests.real import installed

# All of its requests show a key; it has no option for that.
_KEY = """import { subscribe } from "node:diagnostics_channel";
subscribe("undici:request:create", ({ request }) => request.addHeader("authorization", `Bearer ${process.env.KEY}`));
"""
SECONDS = 300
GOOD, BAD = "SUCCESS", "FAILURE"


def checks(folder: Path, kind: str, *options: str, key: str = "", program: str = "") -> dict[str, dict[str, str]]:
    """Run the suite against a `server` or a `client`: for each scenario its checks, and how they ended.

    A check that was done several times has failed if it failed once.
    """
    (folder / "key.mjs").write_text(_KEY)
    command = [installed.node(), "--import", str(folder / "key.mjs"), _suite(), kind, *options, "-o", str(folder)]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "KEY": key, "PYTHONPATH": str(Path.cwd())}
    if program:
        command += ["--command", program, "--timeout", str(SECONDS * 1000)]
    subprocess.run(command, env=environment, capture_output=True, timeout=2 * SECONDS)
    found: dict[str, dict[str, str]] = {}
    for path in folder.glob("**/checks.json"):
        # server-NAME-2026-11-30T20-15-16-290Z
        name = str(path.parent.relative_to(folder)).removeprefix("server-").rpartition("T")[0][:-11]
        ended = found.setdefault(name, {})
        for check in json.loads(path.read_bytes()):
            if ended.get(check["id"]) != BAD:
                ended[check["id"]] = check["status"]
    return found


def scenarios(kind: str) -> list[str]:
    """The names of the suite's scenarios of one kind."""
    said = subprocess.check_output([installed.node(), _suite(), "list", f"--{kind}"], text=True, timeout=SECONDS)
    return [line.split()[1] for line in said.splitlines() if line.startswith("  - ")]


def _suite() -> str:
    return str(installed.npm() / "@modelcontextprotocol/conformance/dist/index.js")
