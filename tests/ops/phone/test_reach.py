"""A computer lets the devices of its network in, and takes that back where it cannot, or when its owner says so."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import yaml

from parachute.security.keys.cli_token import CliToken
from tests.support.computer import Computer
from tests.support.home_network import Device, other_device
from tests.support.installation import PLAIN

pytestmark = pytest.mark.long

PYTHON = (
    "import json,sys,urllib.request;"
    "u,b=sys.argv[1:];"
    "r=urllib.request.Request(u,b.encode() or None,{'Content-Type':'application/json','Sec-Fetch-Site':'same-origin',"
    "'Origin':u.split('/api')[0],'User-Agent':'Mozilla/5.0 (Linux; Android 14) Chrome/130'});"
    "print(urllib.request.urlopen(r,timeout=30).read().decode())"
)


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    with other_device() as found:
        yield found


def as_owner(computer: Computer, method: str, path: str, **fields: Any) -> httpx2.Response:
    headers = {"authorization": f"Bearer {CliToken(computer.home.root).obtain()}"}
    return httpx2.request(method, f"{computer.url}{path}", headers=headers, timeout=60, **fields, **PLAIN)


def reach(computer: Computer) -> dict[str, Any]:
    try:
        answer = as_owner(computer, "GET", "/api/phone")
    except httpx2.TransportError:
        return {}  # it restarts
    return dict(answer.json()) if answer.status_code == 200 else {}


def on(device: Device, url: str, body: str = "") -> Any:
    """The answer to a request of the device."""
    done = subprocess.run(
        [*device.prefix, "/usr/bin/env", "python3", "-c", PYTHON, url, body],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_device_of_the_network_comes_in_and_is_shut_out_again(computer: Computer, device: Device) -> None:
    before = reach(computer)
    assert (before["is_reachable"], before["problem"]) == (False, None)
    assert device.machine in before["addresses"]
    assert as_owner(computer, "POST", "/api/phone").json()["is_restarting"]
    computer.wait_until(lambda: reach(computer).get("is_reachable"), "the computer listens on the network")
    code = as_owner(computer, "POST", "/api/pairing/codes", json={"address": device.machine}).json()
    assert code["url"].startswith(f"http://{device.machine}:{computer.port}/#pair=")
    assert code["qr"]
    signed_in = on(
        device, f"http://{device.machine}:{computer.port}/api/pairing/sign-in", json.dumps({"code": code["code"]})
    )
    assert signed_in["name"] == "Chrome on Android"
    (session,) = as_owner(computer, "GET", "/api/pairing/sessions").json()["sessions"]
    assert (session["address"], session["is_elsewhere"]) == (device.address, True)
    as_owner(computer, "PATCH", f"/api/pairing/sessions/{session['id']}", json={"name": "Ada's phone"})
    (session,) = as_owner(computer, "GET", "/api/pairing/sessions").json()["sessions"]
    assert session["name"] == "Ada's phone"
    assert on(device, f"https://{device.machine}:{computer.port}/api/tls".replace("https", "http"))["enabled"]
    as_owner(computer, "DELETE", "/api/phone")
    computer.wait_until(lambda: reach(computer).get("is_reachable") is False, "it is reached from itself alone")
    assert as_owner(computer, "GET", "/api/pairing/sessions").json()["sessions"] == []
    assert yaml.safe_load(computer.home.config.read_text())["host"] == "127.0.0.1"


def test_a_port_that_another_program_has_changes_nothing(computer: Computer, device: Device) -> None:
    settings = computer.home.config.read_text()
    with socket.create_server((device.machine, computer.port)):
        refused = as_owner(computer, "POST", "/api/phone")
    assert (refused.status_code, refused.json()["key"]) == (409, "port_taken")
    assert computer.home.config.read_text() == settings
    assert not (computer.home.root / "keys.yaml").exists()


def test_an_address_that_fails_at_the_start_is_taken_back(computer: Computer, device: Device) -> None:
    settings = yaml.safe_load(computer.home.config.read_text())
    as_owner(computer, "GET", "/api/phone")
    with socket.create_server((device.machine, computer.port)):
        # After every check: as a program that is faster.
        (computer.home.root / "phone.json").write_text(
            json.dumps({"host": "0.0.0.0", "at": "2026-11-30T07:00:00Z", "before": settings.get("host")})
        )
        computer.home.config.write_text(yaml.safe_dump({**settings, "host": "0.0.0.0"}))
        computer.ask_supervisor("listen_on", host="0.0.0.0")
        computer.wait_until(lambda: reach(computer).get("problem"), "it is back")
    assert reach(computer)["is_reachable"] is False
    assert yaml.safe_load(computer.home.config.read_text()).get("host") == settings.get("host")


def test_codes_for_this_computer_alone_have_no_picture(computer: Computer) -> None:
    code = as_owner(computer, "POST", "/api/pairing/codes", json={}).json()
    assert code["qr"] == []
    refused = as_owner(computer, "POST", "/api/pairing/codes", json={"address": "192.0.2.77"})
    assert refused.json()["key"] == "not_an_own_address"


def test_the_command_connects_a_phone_and_waits_for_it(computer: Computer, device: Device) -> None:
    environment = {"PARACHUTE_HOME": str(computer.home.root), "HOME": str(computer.folder), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-m", "parachute.cli", "phone", "--address", device.machine, "--json"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as phone:
        assert phone.stdout is not None
        made = json.loads(phone.stdout.readline())
        base = made["url"].partition("/#")[0]
        assert base == f"http://{device.machine}:{computer.port}"
        on(device, f"{base}/api/pairing/sign-in", json.dumps({"code": made["code"]}))
        connected = json.loads(phone.stdout.readline())["connected"]
        assert connected == {"name": "Chrome on Android", "address": device.address}
    assert phone.returncode == 0
    off = subprocess.run([*command[:4], "--off", "--json"], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(off.stdout) == {"is_reachable": False}
    assert as_owner(computer, "GET", "/api/pairing/sessions").json()["sessions"] == []
