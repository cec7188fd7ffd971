"""The computer on a local network, and a phone: found by name, let in with the key from its screen, closed to all others."""

import base64
import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import httpx2
import pytest
from testinfra.host import Host

from parachute.web.discovery.announcement import API_PATH, PATH, SERVICE
from tests.appliance.agents import Agents
from tests.appliance.guest import Guest
from tests.appliance.phone import COMPUTER, PHONE, PORT, Found, Phone, joined, listening
from tests.contract import models
from tests.contract.responses import check_error, check_response
from tests.support.sse import chat

NAME = "parachute"
OPEN = ("/", "/api/health")
FORWARDED = {
    "X-Forwarded-For": "127.0.0.1",
    "X-Forwarded-Host": "localhost",
    "X-Real-IP": "127.0.0.1",
    "Forwarded": "for=127.0.0.1;host=localhost;proto=https",
    "Via": "1.1 localhost",
    "Tailscale-User-Login": "owner@example.org",
    "Remote-User": "parachute",
    "X-Remote-User": "root",
}


@dataclass
class Lan:
    """The box and the phone; `keys` are what the phone's owner was given, `found` is the computer as the phone sees it."""

    root: Host
    user: Host
    leader: int
    phone: Phone
    found: Found
    keys: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        """The key that holds now."""
        return self.keys[-1]

    @contextlib.asynccontextmanager
    async def client(self, key: str | None = None, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
        """The app's identity for the computer; only on the phone."""
        headers = {"Host": self.found.host, "Authorization": f"Bearer {key or self.key}", **headers}
        async with httpx2.AsyncClient(
            base_url=self.found.url, headers=headers, timeout=120, trust_env=False
        ) as connected:
            yield connected


def restart_avahi(root: Host, name: str) -> str:
    """Begin anew under a name, and return the one that Avahi settles for."""
    root.check_output("systemctl restart avahi-daemon")
    asked = "busctl call org.freedesktop.Avahi / org.freedesktop.Avahi.Server"
    # 2 is AVAHI_SERVER_RUNNING: registered, and nobody has contradicted.
    wait = f"until {asked} GetState | grep -qx 'i 2'; do sleep 0.1; done; {asked} GetHostNameFqdn"
    return str(root.check_output(f"timeout 60 sh -c {json.dumps(wait)}")).split('"')[1]


@pytest.fixture(scope="module")
def lan(guest: Guest, host: Host, user: Host) -> Iterator[Lan]:
    """A computer that runs as services for the whole network, not set up yet, announced by Avahi, and a phone on it."""
    before = host.check_output("hostname")
    host.check_output(f"hostname {NAME}")
    with joined(guest.leader) as phone:
        try:
            host.check_output(f"runuser -u parachute -- parachute service avahi > {PATH}")
            user.check_output("parachute config set host 0.0.0.0")
            assert "keys create" in user.run("parachute service install").stderr, "not open to a network without a key"
            # The appliance's units start it before anybody was there to make one.
            key = json.loads(user.check_output("parachute first-boot --json"))["key"]
            user.check_output("parachute service install")
            user.check_output("rm -f ~/.parachute/keys.yaml ~/.parachute/setup.json ~/.parachute/known-files.json")
            user.check_output("systemctl --user restart parachute-core.service")
            assert phone.ask("GET", "/api/auth/keys", {"X-API-Key": key}).status_code == 401
            assert restart_avahi(host, NAME) == f"{NAME}.local"
            yield Lan(host, user, guest.leader, phone, phone.find(SERVICE))
        finally:
            user.run("parachute service uninstall")
            user.run("rm -rf ~/.parachute ~/Parachute")
            host.run(f"rm -f {PATH}; hostname {before}; systemctl restart avahi-daemon")


def test_the_phone_finds_the_box_by_asking_the_network(lan: Lan) -> None:
    version = lan.user.check_output("parachute --version").split()[1]
    assert lan.found == Found(f"{NAME}.local", COMPUTER, PORT, {"version": version, "path": API_PATH})
    assert lan.phone.ask("GET", "/api/health", {"Host": lan.found.host}).json()["version"] == version


def test_before_the_first_key_there_is_only_the_console(lan: Lan) -> None:
    assert not lan.user.run("ls ~/.parachute/keys.yaml").stdout
    former = lan.phone.ask("GET", "/setup", {"Host": lan.found.host})
    assert (former.status_code, former.headers["location"]) == (307, "/")
    page = lan.phone.ask("GET", "/", {"Host": lan.found.host, "Accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    for method, path in (
        ("GET", "/api/setup"),
        ("POST", "/api/auth/keys"),
        ("PUT", "/api/provider"),
        ("GET", "/api/status"),
    ):
        assert lan.phone.ask(method, path, json={"label": "mine"}).status_code == 401


@pytest.fixture(scope="module")
def shown(lan: Lan) -> dict[str, Any]:
    """The screen's contents for the owner, who has read the key."""
    screen: dict[str, Any] = json.loads(lan.user.check_output("parachute first-boot --json"))
    lan.keys.append(screen["key"])
    return screen


def test_the_key_of_the_screen_opens_the_box(lan: Lan, shown: dict[str, Any]) -> None:
    assert shown["urls"] == [f"http://{NAME}.local:{PORT}", f"http://{COMPUTER}:{PORT}"]
    assert shown["link"] == f"http://{COMPUTER}:{PORT}/#key={shown['key']}", "a code that needs no names"

    async def using() -> dict[str, Any]:
        async with lan.client() as app:
            status: dict[str, Any] = (await app.get("/api/setup")).json()
            check_response(models.SessionList, await app.get("/api/chat?limit=500"))
            return status

    status = lan.phone.do(using)
    assert (status["name"], status["is_open"]) == (f"{NAME}.local", True)
    again = json.loads(lan.user.check_output("parachute first-boot --json"))
    assert (again["key"], again["done"]) == (None, False), "somebody holds the key already"


@pytest.mark.usefixtures("shown")
def test_no_route_lets_a_stranger_in(lan: Lan) -> None:
    schema = lan.phone.ask("GET", "/openapi.json", {"X-API-Key": lan.key}).json()
    routes = [(method.upper(), path) for path, methods in schema["paths"].items() for method in methods]
    assert len(routes) > 80
    routes += [("GET", path) for path in ("/", "/docs", "/openapi.json", "/api/brain/entities", "/api/sync/manifest")]
    routes += [("GET", path) for path in ("/setup/", "/setup/../api/chat", "/setup/page.css/x", "//api/chat")]
    strangers: tuple[dict[str, str], ...] = ({}, {"X-API-Key": "para_" + "A" * 43}, {**FORWARDED})

    def asked() -> dict[tuple[str, str, int], int]:
        found = {}
        with httpx2.Client(base_url=f"http://{COMPUTER}:{PORT}", timeout=60, trust_env=False) as client:
            for method, path in routes:
                for number, headers in enumerate(strangers):
                    answer = client.request(method, path.replace("{", "").replace("}", ""), headers=headers)
                    found[method, path, number] = answer.status_code
        return found

    wrong = {route: status for route, status in lan.phone.run(asked).items() if status not in (401, 400)}
    # Where browsers sign in and out, and learn whether they are, is open by its nature.
    signing = {"/api/pairing/me", "/api/pairing/sign-in", "/api/pairing/sign-out"}
    # And what a device needs before it can trust the computer: each connection with TLS shows it anyway.
    trusting = {"/api/tls", "/tls/ca.crt", "/tls/ca.mobileconfig"}
    assert {path for _, path, _ in wrong} - signing - trusting == {"/", "/api/health"}, wrong
    for path in OPEN:
        assert lan.phone.ask("GET", path).status_code == 200
        assert lan.phone.ask("POST", path).status_code == 401


@pytest.mark.usefixtures("shown")
def test_what_is_forged_is_refused_or_without_effect(lan: Lan) -> None:
    key = {"X-API-Key": lan.key}
    for host in ("evil.example", f"{NAME}.local.evil.example", "other.local", f"{NAME}-2.local", "192.0.2.1", PHONE):
        answer = lan.phone.ask("GET", "/api/chat", {**key, "Host": f"{host}:{PORT}"})
        assert "is not called" in check_error(answer, 403)
        assert lan.phone.ask("GET", "/api/health", {"Host": host}).status_code == 403
    for origin in ("http://evil.example", "null", f"http://{PHONE}:{PORT}", f"https://{NAME}.evil.example", "file://"):
        for method in ("GET", "POST"):
            answer = lan.phone.ask(method, "/api/chat", {**key, "Host": lan.found.host, "Origin": origin})
            assert "origin" in check_error(answer, 403)
    own = {**key, "Host": lan.found.host, "Origin": f"http://{lan.found.host}"}
    assert lan.phone.ask("GET", "/api/chat", own).status_code == 200, "the page that the computer gave out"
    for name, value in FORWARDED.items():
        assert lan.phone.ask("GET", "/api/chat", {name: value}).status_code == 401, name
        assert lan.phone.ask("GET", "/supervisor/status", {name: value}).status_code == 401, name
        assert lan.phone.ask("GET", "/api/chat", {**key, name: value}).status_code == 200, name
    with_details = lan.phone.ask("GET", "/api/health?detailed=true", FORWARDED).json()
    assert with_details.keys() == {"status", "version"}


def test_only_two_ports_answer_the_network(lan: Lan) -> None:
    everywhere = {"0.0.0.0", "::", "*", COMPUTER}
    found = listening(lan.leader)
    assert ("tcp", "0.0.0.0", PORT) in found
    assert {(kind, port) for kind, address, port in found if address in everywhere and kind == "tcp"} == {("tcp", PORT)}
    mail = {port for kind, address, port in found if kind == "udp" and address in everywhere}
    assert 5353 in mail
    # Avahi asks servers beyond the network from a port of its own, one for each kind of address; nothing else is there.
    owners = lan.root.check_output("cat /proc/net/udp /proc/net/udp6")
    avahi = lan.root.check_output("id --user avahi")
    rows = [line.split() for line in owners.splitlines() if ":" in line.split()[0]]
    assert {row[7] for row in rows if int(row[1].rpartition(":")[2], 16) in mail} == {avahi}
    for port in {port for kind, _, port in found if kind == "tcp"} | {22, 80, 443, 3334}:
        assert lan.phone.reaches(port) is (port == PORT), port


@pytest.fixture
def model(lan: Lan) -> Iterator[str]:
    """The address of a scripted model in the computer."""
    with Agents(lan.user).serving("model", "tests.appliance.scripted_model") as url:
        yield url


@pytest.mark.usefixtures("shown")
def test_the_app_does_its_work_from_the_phone(lan: Lan, model: str) -> None:
    async def set_up() -> None:
        async with lan.client() as app:
            choice = {"provider": "compatible", "base_url": model, "model": "claude-opus-5-5"}
            assert (await app.put("/api/provider", json=choice)).json()["provider"] == "compatible"
            for module in (await app.get("/api/modules/official")).json()["modules"]:
                wanted = {"source": module["source"], "hash": module["hash"]}
                installed = await app.post("/api/modules/install", json=wanted)
                assert installed.status_code == 200, installed.text
            assert check_error(await app.post("/api/setup/finish", json={}), 409)
            created = check_response(models.CreatedKey, await app.post("/api/auth/keys", json={"label": "My phone"}))
            lan.keys.append(created.key)
            assert (await app.post("/api/setup/finish", json={})).status_code == 200
        async with lan.client(lan.keys[0]) as app:
            check_error(await app.get("/api/chat"), 401)
            check_error(await app.get("/api/setup"), 401)

    lan.phone.do(set_up)
    lan.phone.do(lambda: _talk(lan))
    lan.phone.do(lambda: _sync(lan))


async def _talk(lan: Lan) -> None:
    async with lan.client() as app:
        present = ["version", "vault.path", "docker.available"]
        check_response(models.DetailedHealth, await app.get("/api/health?detailed=true"), present=present)
        async with chat(app, "run: id -u; ls /home") as stream:
            await stream.collect()
        assert stream.terminal["type"] == "done", stream.terminal
        assert stream.text.split() == ["1000", "agent"], "its own home, and no other"
        session = str(stream.terminal["sessionId"])
        found = check_response(models.SessionWithMessages, await app.get(f"/api/chat/{session}"))
        assert (found.trust_level, found.message_count) == ("sandboxed", 2)
        transcript = await app.get(f"/api/chat/{session}/transcript?after_compact=true")
        assert check_response(models.Transcript, transcript).events
        check_response(models.StreamStatus, await app.get(f"/api/chat/{session}/stream-status"))
        archived = await app.post(f"/api/chat/{session}/archive")
        assert check_response(models.SessionEnvelope, archived).session.archived is True
        present = ["main_server_version", "main_server_port"]
        check_response(models.SupervisorStatus, await app.get("/supervisor/status"), present=present)
        check_response(models.AuthSettings, await app.get("/api/auth/settings"), present=["require_auth"])
        check_response(models.KeyList, await app.get("/api/auth/keys"), present=["auth_mode"])
    # One screen of the app sends its key in base64.
    async with lan.client(base64.b64encode(lan.key.encode()).decode()) as app:
        assert (await app.get("/api/modules/daily/agents")).status_code == 200


async def _sync(lan: Lan) -> None:
    path = f"journals/{date.today().isoformat()}.md"
    text = f"---\ndate: {date.today().isoformat()}\n---\n\n# para:daily:abcdefabcdef 10:00\n\nTea with Kevin.\n"
    async with lan.client() as app:
        body = {"root": "Daily", "files": [{"path": path, "content": text, "is_binary": False}]}
        assert (await app.post("/api/sync/push", json=body)).json()["pushed"] == 1
        listed = (await app.get("/api/sync/manifest?root=Daily&pattern=*.md")).json()["files"]
        (pulled,) = (await app.post("/api/sync/pull", json={"root": "Daily", "paths": [path]})).json()["files"]
        hashes = {file["path"]: file["hash"] for file in listed}
        assert hashes[path] == hashlib.sha256(pulled["content"].encode()).hexdigest()
        assert "Tea with Kevin." in pulled["content"]


@pytest.mark.usefixtures("shown")
def test_a_taken_name_gets_a_number_and_is_answered_to(lan: Lan) -> None:
    key = {"X-API-Key": lan.key}
    with lan.phone.called(NAME):
        assert restart_avahi(lan.root, NAME) == f"{NAME}-2.local"
        found = lan.phone.find(SERVICE)
        assert (found.name, found.address) == (f"{NAME}-2.local", COMPUTER)
        # Avahi is asked at most each few seconds, and one of the tests before has just made it.
        patient = lan.root.run(
            f"timeout 30 sh -c 'until curl -sf -H \"Host: {found.host}\" http://{COMPUTER}:{PORT}/api/health; do sleep 0.2; done'"
        )
        assert patient.rc == 0, patient
        assert lan.phone.ask("GET", "/api/chat", {**key, "Host": found.host}).status_code == 200
        assert lan.phone.ask("GET", "/api/chat", {**key, "Host": f"{NAME}-3.local:{PORT}"}).status_code == 403
    assert restart_avahi(lan.root, NAME) == f"{NAME}.local"


@pytest.mark.usefixtures("shown")
def test_no_key_is_in_any_log(lan: Lan) -> None:
    journal = lan.root.check_output("journalctl --no-pager")
    assert "parachute-core.service" in journal, "it has something to say"
    for key in lan.keys:
        found = lan.user.run(f"grep --recursive --files-with-matches --fixed-strings {key} ~/.parachute ~/Parachute")
        assert (found.rc, found.stdout) == (1, "")
        assert key not in journal
