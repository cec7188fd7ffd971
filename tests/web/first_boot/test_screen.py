"""Screen of a new computer, and `parachute first-boot` in its other forms."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
import segno

from parachute.security.keys.service import Keys
from parachute.web.first_boot.addresses import addresses
from parachute.web.first_boot.screen import HEIGHT, WIDTH, Welcome, code_lines, console_lines
from parachute.web.tls.store import Store
from tests.support.terminal import Terminal

pytestmark = pytest.mark.process

SECRET = "para_" + "Ab-_9" * 8 + "xyz"
URLS = ["http://parachute.local:3333", "http://192.168.178.123:3333"]
COMMAND = (sys.executable, "-m", "parachute.cli", "first-boot")


def modules_of(lines: list[str]) -> list[list[bool]]:
    """Return the dark squares of a drawn code, without the light edge."""
    rows = []
    for line in lines:
        rows.append([letter in " ▄" for letter in line])
        rows.append([letter in " ▀" for letter in line])
    width = len(lines[0])
    return [row[2:-2] for row in rows[:width]][2:-2]


@pytest.mark.parametrize("link", ["http://10.0.0.1:3333/#key=" + SECRET, "http://parachute.local:3333"])
def test_the_code_is_the_link(link: str) -> None:
    expected = [[bool(square) for square in row] for row in segno.make_qr(link, error="l").matrix]
    assert modules_of(code_lines(link)) == expected


@pytest.mark.parametrize(
    "urls",
    [
        URLS,
        URLS[:1],
        [URLS[0], "http://192.168.178.123:3333", "http://[2001:db8:1234:5678:9abc:def0:1234:5678]:3333"],
        ["http://a-name-that-is-rather-long-for-a-computer-at-home.local:33333"],
    ],
)
def test_all_of_it_fits_on_a_console(urls: list[str]) -> None:
    lines = console_lines(Welcome(urls, SECRET))
    assert len(lines) <= HEIGHT
    assert max(map(len, lines)) <= WIDTH
    beside = "".join(re.sub(r"^[█▀▄ ]{41,60}", "", line) for line in lines)
    for url in urls:
        assert url in beside
    assert SECRET in beside


def test_the_fingerprint_stands_there_where_it_fits() -> None:
    fingerprint = " ".join(["AB12"] * 16)
    lines = console_lines(Welcome(URLS, SECRET, fingerprint))
    assert len(lines) <= HEIGHT
    assert max(map(len, lines)) <= WIDTH
    assert "\n".join(lines).count("AB12") == 16
    many = [*URLS, "http://[2001:db8:1234:5678:9abc:def0:1234:5678]:3333/setup"]
    assert console_lines(Welcome(many, SECRET, fingerprint)) == console_lines(Welcome(many, SECRET))


def test_the_fingerprint_is_made_if_the_server_has_not_yet(parachute: Terminal, tmp_path: Path) -> None:
    variables = {"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={tmp_path}/nowhere", "PARACHUTE_HOST": "0.0.0.0"}
    shown = json.loads(parachute.ok("first-boot", "--json", **variables))
    issued = Store(parachute.home).read()
    assert issued is not None
    assert shown["fingerprint"] == issued.authority.fingerprint
    assert issued.authority.fingerprint[:39] in parachute.ok("first-boot", **variables)


def test_the_code_needs_no_names_where_there_is_an_address() -> None:
    assert Welcome(URLS, SECRET).link == f"{URLS[1]}/#key={SECRET}"
    assert Welcome(URLS[:1], SECRET).link == f"{URLS[0]}/#key={SECRET}"


def test_addresses_are_those_that_others_reach() -> None:
    assert addresses("127.0.0.1", 3333, "home.local") == ["http://127.0.0.1:3333"]
    assert addresses("localhost", 3333, None) == ["http://localhost:3333"]
    assert addresses("192.168.1.5", 80, "home.local") == [
        "http://home.local:80",
        "http://192.168.1.5:80",
    ]
    assert addresses("2001:db8::5", 3333, None) == ["http://[2001:db8::5]:3333"]
    for host in ("0.0.0.0", "::", ""):
        found = addresses(host, 3333, "home.local")
        assert found[0] == "http://home.local:3333"
        assert not [url for url in found if "127.0.0.1" in url or "[::1]" in url or "0.0.0.0" in url or "fe80" in url]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A home of its own, and no system bus."""
    return {
        "PATH": os.environ["PATH"],
        "PARACHUTE_HOME": str(tmp_path / "home"),
        "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={tmp_path}/nowhere",
        "LANG": "C",
    }


def keys_of(environment: dict[str, str]) -> Keys:
    return Keys(Path(environment["PARACHUTE_HOME"]))


def test_into_a_pipe_it_is_plain_and_json_says_all_of_it(parachute: Terminal, tmp_path: Path) -> None:
    def said(*options: str) -> str:
        return parachute.ok("first-boot", *options, DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={tmp_path}/nowhere")

    lines = said().splitlines()
    assert [line.split()[0] for line in lines] == ["Address", "Key"]
    assert lines[0].split()[1] == "http://127.0.0.1:3333"
    assert keys_of(parachute.environment).authenticate(lines[1].split()[1])
    shown = json.loads(said("--json"))
    assert shown["link"] == f"{shown['urls'][0]}/#key={shown['key']}"
    assert (shown["done"], shown["reason"], shown["name"]) == (False, None, None)
    keys_of(parachute.environment).create("Phone")
    (parachute.home / "setup.json").unlink()
    shown = json.loads(said("--json"))
    assert (shown["done"], shown["key"], shown["link"]) == (True, None, None)
    assert json.loads(said("--json", "--again"))["key"]


@pytest.mark.long
def test_a_console_is_filled(environment: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen([*COMMAND, "--console"], env=environment, stdin=theirs, stdout=theirs) as command:
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:
            pass  # the other end is closed
        assert command.wait() == 0
    os.close(ours)
    text = b"".join(parts).decode()
    assert text.startswith("\x1b[0m\x1b[2J\x1b[H")
    lines = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) <= HEIGHT
    key = "".join(line.split()[-1] for line in lines if re.search(r"(para_|^█.*  )[\w-]{19,24}$", line))
    assert keys_of(environment).authenticate(key), lines


def test_the_journal_gets_no_key(environment: dict[str, str]) -> None:
    reader, writer = os.pipe()
    status = os.fstat(writer)
    stream = {"JOURNAL_STREAM": f"{status.st_dev}:{status.st_ino}"}
    with subprocess.Popen(COMMAND, env=environment | stream, stdout=writer, stderr=subprocess.PIPE) as command:
        os.close(writer)
        _, complaint = command.communicate()
    with os.fdopen(reader, "rb") as journal:
        assert journal.read() == b""
    assert command.returncode == 1
    assert b"StandardOutput=tty" in complaint
    assert keys_of(environment).list() == ()
