"""Claude Code's own program, which signs in by a browser, looks whether it is connected, and is ended."""

import contextlib
import os
import pty
import re
import subprocess
from pathlib import Path

import claude_agent_sdk
import httpx2
import pytest

from tests.support.mcp_client import OwnersBrowser
from tests.support.server import Server

pytestmark = pytest.mark.long

PROGRAM = Path(claude_agent_sdk.__file__).parent / "_bundled" / "claude"
LINK = re.compile(r"http://127\.0\.0\.1:\d+(/oauth/authorize[!-~]+)")


def test_it_signs_in_and_is_ended(server: Server, owner: OwnersBrowser, tmp_path: Path) -> None:
    opener = tmp_path / "xdg-open"
    opener.write_text("#!/bin/sh\n")
    opener.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "xterm"}
    environment["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"

    def claude(*arguments: str) -> str:
        done = subprocess.run(
            [PROGRAM, "mcp", *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    claude("add", "--transport", "http", "parachute", f"{server.url}/mcp")
    assert "Needs authentication" in claude("list")
    # Without a terminal it asks nobody to sign in.
    ours, its = pty.openpty()
    login = subprocess.Popen(
        [PROGRAM, "mcp", "login", "parachute"],
        env=environment | {"COLUMNS": "2000"},
        cwd=tmp_path,
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    )
    os.close(its)
    try:
        said = ""
        while (found := LINK.search(said)) is None or said.endswith(found[0]):
            said += os.read(ours, 65536).decode(errors="replace")
        back = owner.agree(owner.open(found[0]), tools=["daily-search"])
        assert httpx2.get(back, timeout=60, trust_env=False).status_code == 200
        with contextlib.suppress(OSError):  # the end of its terminal
            while os.read(ours, 65536):
                pass
        assert login.wait(60) == 0
    finally:
        login.kill()
        login.wait()
        os.close(ours)
    assert "Connected" in claude("list")
    (client,) = [each for each in owner.clients() if each["name"].startswith("Claude Code")]
    owner.browser.ask("DELETE", f"/api/mcp-clients/{client['id']}")
    assert "Needs authentication" in claude("list")
