"""The console opens signed in, for the person at the desktop alone."""

import re
from pathlib import Path

import pytest

from tests.support.browser import Browser
from tests.support.server import Server

pytestmark = pytest.mark.process


@pytest.fixture
def desktop(tmp_path: Path) -> dict[str, str]:
    """The environment of a desktop whose opener writes down what it was started with."""
    program = tmp_path / "bin" / "xdg-open"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/opened\n')
    program.chmod(0o755)
    return {"DISPLAY": ":7", "PATH": f"{program.parent}:/usr/bin:/bin"}


def test_the_link_is_in_a_file_of_the_owner_and_in_no_list_of_processes(
    server: Server, browser: Browser, desktop: dict[str, str], tmp_path: Path
) -> None:
    done = server.command("open", **desktop)
    assert done.returncode == 0, done.stderr
    opened = (tmp_path / "opened").read_text().split()
    assert opened == [str(server.home.run / "open.html")]
    page = Path(opened[0])
    assert page.stat().st_mode & 0o777 == 0o600
    text = page.read_text()
    (code,) = set(re.findall(r"#pair=([0-9A-Z-]{9})", text))
    assert f"{server.url}/#pair={code}" in text
    assert code not in done.stdout
    assert browser.post("/api/pairing/sign-in", {"code": code}).json()["admin"]


def test_without_a_desktop_the_link_is_printed(server: Server, browser: Browser) -> None:
    done = server.command("open")
    assert done.returncode == 0, done.stderr
    (code,) = re.findall(r"/#pair=([0-9A-Z-]{9})", done.stdout)
    assert browser.post("/api/pairing/sign-in", {"code": code}).json()["admin"]
