"""Another user of this machine, as whom a child of the tests runs; only root can start one."""

import json
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

UID = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="acting as another user needs root")

_ASK = """
import http.client, json, os, ssl, sys
assert os.getuid() == 65534
if sys.argv[4]:
    context = ssl._create_unverified_context()
    connection = http.client.HTTPSConnection(sys.argv[1], int(sys.argv[2]), timeout=60, context=context)
else:
    connection = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2]), timeout=60)
answers = []
for method, path, body, headers in json.loads(sys.argv[3]):
    connection.request(method, path, body, {"content-type": "application/json", **headers})
    answer = connection.getresponse()
    text = answer.read()
    answers.append([answer.status, json.loads(text) if text.startswith(b"{") else text.decode()])
print(json.dumps(answers))
"""


def started(script: str, *arguments: str) -> "subprocess.Popen[str]":
    """Start a Python script as another user; it needs nothing but the standard library."""
    # The interpreter of a virtual environment may lie in a folder that others cannot enter.
    python = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
    return subprocess.Popen(
        [python, "-I", "-S", "-c", script, *arguments],
        user=UID,
        group=UID,
        extra_groups=[],
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def asked(
    host: str, port: int, *calls: tuple[str, str], body: str = "", tls: bool = False, **headers: str
) -> list[tuple[int, Any]]:
    """Send calls as another user over one connection, and return status and answer of each."""
    prepared = json.dumps([(*call, body, headers) for call in calls])
    output, _ = started(_ASK, host, str(port), prepared, "tls" if tls else "").communicate(timeout=90)
    return [(status, answer) for status, answer in json.loads(output)]
