"""Devices are told what begins to wait: encrypted, once, by push services that the owner agrees with, and not at night."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from datetime import timedelta

import httpx2
import pytest

from tests.chat.runs.answers import session_of
from tests.connectors.push.conftest import MakeBrowser, subscribe
from tests.connectors.push.push_service import KNOWN, OTHER, PushService, Subscriber, ToldServer, claims
from tests.support.browser import Browser, owners
from tests.support.messages_api import Gate, MessagesAPI, hold, several, text
from tests.support.sse import chat
from tests.support.waiting import wait_until

TELLING = "notices to devices"


def wait_for_approval(server: ToldServer, name: str = "tides") -> None:
    """Have an MCP server wait for the owner."""
    servers = {"mcpServers": {name: {"command": "python3", "args": [f"{name}.py"]}}}
    (server.vault / ".mcp.json").write_text(json.dumps(servers))
    assert owners(server, "GET", "/api/inbox").status_code == 200
    server.advance(31, "inbox for devices")


def devices(browser: Browser) -> list[dict[str, object]]:
    found: list[dict[str, object]] = browser.get("/api/push").json()["devices"]
    return found


def test_what_begins_to_wait_is_told_encrypted(
    server: ToldServer, service: PushService, make_browser: MakeBrowser
) -> None:
    phone, browser = Subscriber(), make_browser(name="Phone")
    assert subscribe(browser, phone)["state"] == "told"
    wait_for_approval(server)
    path, headers, body = service.wait(1)
    assert (path, headers["host"]) == (phone.path, KNOWN)
    assert (headers["content-encoding"], headers["urgency"]) == ("aes128gcm", "high")
    assert 0 < int(headers["ttl"]) <= 24 * 3600
    assert len(headers["topic"]) == 32
    signed = claims(headers["authorization"], f"https://{KNOWN}")
    assert set(signed) == {"aud", "exp", "sub"}
    # Whom the service may reach: the computer, by the address at which the device calls it.
    assert signed["sub"] == server.url.replace("http:", "https:")
    now = server._clock.now()
    assert now.timestamp() < signed["exp"] <= (now + timedelta(hours=24)).timestamp()
    said, [item] = phone.read(body), owners(server, "GET", "/api/inbox").json()["items"]
    assert b"tides" not in body
    assert (said["item"], said["hash"]) == (item["id"], item["hash"])
    # Of what kind it is, and no more, unless the owner wants that.
    assert (said["title"], said["body"], said["actions"]) == ("Something waits for your approval", "", [])
    assert said["url"] == f"/#/inbox/{item['id']}"
    # Nothing is told twice, also where the server looks again.
    server.advance(120, TELLING)
    assert len(service.taken) == 1
    # The same thing in another form takes the place of the notice before.
    (server.vault / ".mcp.json").write_text('{"mcpServers": {"tides": {"command": "python3", "args": ["other.py"]}}}')
    server.advance(31, "inbox for devices")
    assert service.wait(2)[1]["topic"] == headers["topic"]


def test_a_device_that_is_signed_out_or_removed_is_told_nothing(
    server: ToldServer, service: PushService, make_browser: MakeBrowser
) -> None:
    phone, tablet, gone = make_browser(name="Phone"), make_browser(name="Tablet"), make_browser(name="Gone")
    for number, each in enumerate((phone, tablet, gone)):
        subscribe(each, Subscriber(name=str(number)))
    assert {each["name"] for each in devices(phone)} == {"Phone", "Tablet", "Gone"}
    gone.post("/api/pairing/sign-out")
    tablet_id = tablet.me()["id"]
    assert phone.ask("DELETE", f"/api/push/devices/{tablet_id}").status_code == 200
    assert phone.ask("DELETE", f"/api/push/devices/{tablet_id}").json()["key"] == "device_not_told"
    assert [each["name"] for each in devices(phone)] == ["Phone"]
    wait_for_approval(server)
    service.wait(1)
    server.advance(120, TELLING)
    assert [path for path, _, _ in service.taken] == ["/send/0"]


def test_a_service_that_knows_a_device_no_more_is_forgotten(
    server: ToldServer, service: PushService, make_browser: MakeBrowser
) -> None:
    browser = make_browser()
    subscribe(browser, Subscriber())
    service.answers = [(410, {})]
    wait_for_approval(server)
    service.wait(1)
    wait_until(lambda: devices(browser) == [], "the device is forgotten")


@pytest.mark.parametrize(("status", "headers", "seconds"), [(429, {"retry-after": "600"}, 600), (503, {}, 60)])
def test_a_service_that_asks_for_time_is_sent_the_notice_later(
    server: ToldServer,
    service: PushService,
    make_browser: MakeBrowser,
    status: int,
    headers: dict[str, str],
    seconds: int,
) -> None:
    browser, phone = make_browser(), Subscriber()
    subscribe(browser, phone)
    service.answers = [(status, headers)]
    wait_for_approval(server)
    first = service.wait(1)
    server.advance(seconds - 5, TELLING)
    assert len(service.taken) == 1
    assert str(status) in str(devices(browser)[0]["problem"])
    server.advance(70, TELLING)
    again = service.wait(2)
    assert phone.read(again[2]) == phone.read(first[2])
    assert int(again[1]["ttl"]) < int(first[1]["ttl"])


def test_a_service_that_is_not_known_waits_for_the_owner(
    server: ToldServer, service: PushService, make_browser: MakeBrowser
) -> None:
    browser, phone = make_browser(name="Phone"), Subscriber(OTHER)
    assert subscribe(browser, phone)["state"] == "asked"
    device = browser.me()["id"]
    assert browser.post(f"/api/push/devices/{device}/test").json()["key"] == "push_service_not_allowed"
    [item] = owners(server, "GET", "/api/inbox").json()["items"]
    assert (item["kind"], item["details"]["host"]) == ("push_service", OTHER)
    answer = {"id": item["id"], "hash": item["hash"], "answer": "always"}
    assert owners(server, "POST", "/api/inbox/answer", answer).status_code == 200
    assert browser.post(f"/api/push/devices/{device}/test").status_code == 200
    assert phone.read(service.wait(1)[2])["title"] == "Notices arrive here"
    decided = owners(server, "GET", "/api/network/decisions").json()["decisions"]
    assert [(each["workspace"], each["host"], each["choice"]) for each in decided] == [("@notices", OTHER, "always")]
    # The decision is taken back where all are.
    owners(server, "DELETE", f"/api/network/decisions?host={OTHER}&workspace=@notices")
    assert devices(browser)[0]["state"] == "asked"


def test_a_service_that_the_owner_refuses_is_sent_nothing(server: ToldServer, make_browser: MakeBrowser) -> None:
    browser, phone = make_browser(), Subscriber(OTHER)
    subscribe(browser, phone)
    [item] = owners(server, "GET", "/api/inbox").json()["items"]
    owners(server, "POST", "/api/inbox/answer", {"id": item["id"], "hash": item["hash"], "answer": "never"})
    assert devices(browser) == []
    assert browser.ask("PUT", "/api/push/subscription", phone.body).json()["key"] == "push_service_refused"


def test_a_name_that_leads_home_is_sent_nothing(server: ToldServer, make_browser: MakeBrowser) -> None:
    browser = make_browser()
    subscribe(browser, Subscriber("rebound.push.apple.com"))
    answer = browser.post(f"/api/push/devices/{browser.me()['id']}/test")
    assert (answer.status_code, answer.json()["key"]) == (502, "push_not_sent")
    assert "a private address" in answer.json()["detail"]


def test_a_device_with_fewer_rights_waits_and_hears_of_what_it_may_answer(
    server: ToldServer, service: PushService, make_browser: MakeBrowser
) -> None:
    guest = make_browser(name="Guest", scopes=["inbox:read"])
    assert subscribe(guest, Subscriber(name="guest"))["state"] == "asked", "the owner's word, also for a known service"
    owner = make_browser(name="Owner")
    subscribe(owner, Subscriber(name="owner"))
    assert [each["name"] for each in devices(guest)] == ["Guest"]
    assert guest.ask("DELETE", f"/api/push/devices/{owner.me()['id']}").json()["key"] == "not_own_browser"
    wait_for_approval(server)
    service.wait(1)
    server.advance(120, TELLING)
    assert [path for path, _, _ in service.taken] == ["/send/owner"]


@pytest.mark.long
def test_quiet_hours_hold_back_what_waits_until_they_end(
    make_told_server: Callable[..., ToldServer], service: PushService
) -> None:
    server = make_told_server(messengers={"quiet_from": "00:00", "quiet_until": "23:59"})
    with Browser(server) as browser:
        browser.sign_in()
        subscribe(browser, Subscriber())
        wait_for_approval(server)
        server.advance(180, TELLING)
        assert service.taken == []
        owners(server, "PUT", "/api/config/messengers.quiet_until", {"value": "00:00"})
        server.advance(61, TELLING)
        service.wait(1)


@pytest.mark.long
def test_a_run_that_nobody_follows_is_told_when_it_ends(
    server: ToldServer, service: PushService, make_browser: MakeBrowser, api: MessagesAPI
) -> None:
    phone, browser = Subscriber(), make_browser()
    subscribe(browser, phone)
    api.script(text("Done."))
    with browser.client.stream(
        "POST",
        "/api/chat",
        json={"message": "Sow the peas"},
        headers={"cookie": browser.cookie or "", "origin": server.url, "sec-fetch-site": "same-origin"},
    ) as answer:
        assert answer.status_code == 200
    said = phone.read(service.wait(1)[2])
    assert (said["title"], said["body"], said["item"]) == ("An agent has finished", "", None)
    assert said["url"].startswith("/#/chat/")


@pytest.mark.long
async def test_a_run_that_a_restart_interrupts_is_told(
    server: ToldServer, service: PushService, make_browser: MakeBrowser, api: MessagesAPI
) -> None:
    phone, browser = Subscriber(), make_browser()
    subscribe(browser, phone)
    gate = Gate()
    api.script(several(text("Half an "), hold(gate)))
    async with server.client() as client:
        with contextlib.suppress(httpx2.HTTPError):  # the server ends before its answer
            async with chat(client, "Begin.") as stream:
                await stream.until("text")
                session = session_of(stream)
                await asyncio.to_thread(server.stop)
    await asyncio.to_thread(server.start)
    said = phone.read((await asyncio.to_thread(service.wait, 1))[2])
    assert (said["title"], said["url"]) == ("An agent could not finish", f"/#/chat/{session}")


def test_the_command_line_shows_and_tries_and_ends_it(
    server: ToldServer, service: PushService, make_browser: MakeBrowser
) -> None:
    def ran(*arguments: str) -> str:
        done = server.command("devices", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    phone = Subscriber()
    subscribe(make_browser(name="Phone"), phone)
    make_browser(name="Desk")
    listed = {each["name"]: each["notices"] for each in json.loads(ran("list", "--json"))}
    assert listed == {"Phone": KNOWN, "Desk": None}
    assert KNOWN in ran("try", "Phone")
    assert phone.read(service.wait(1)[2])["tag"] == "test"
    assert server.command("devices", "try", "Desk").returncode == 1
    assert json.loads(ran("quiet", "Phone", "--json"))["success"]
    assert {each["notices"] for each in json.loads(ran("list", "--json"))} == {None}


def many(server: ToldServer, number: int) -> None:
    """Have many things wait."""
    servers = {f"tides{each}": {"command": "python3", "args": ["tides.py"]} for each in range(number)}
    (server.vault / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    assert len(owners(server, "GET", "/api/inbox").json()["items"]) == number
    server.advance(31, "inbox for devices")


def test_many_things_at_once_are_one_notice(
    server: ToldServer, service: PushService, make_browser: MakeBrowser
) -> None:
    phone = Subscriber()
    subscribe(make_browser(), phone)
    many(server, 30)
    said = phone.read(service.wait(1)[2])
    assert (said["tag"], said["url"], said["actions"]) == ("waits", "/#/inbox", [])
    server.advance(120, TELLING)
    assert len(service.taken) == 1


def test_a_device_that_is_signed_out_while_notices_go_out_gets_no_more(
    server: ToldServer, service: PushService, make_browser: MakeBrowser
) -> None:
    browser = make_browser()
    subscribe(browser, Subscriber())
    service.meanwhile = lambda: browser.post("/api/pairing/sign-out")
    many(server, 3)
    service.wait(1)
    server.advance(120, TELLING)
    assert len(service.taken) == 1


@pytest.mark.parametrize("content", ["", "-----BEGIN PRIVATE KEY-----"])
def test_a_key_that_is_cut_off_is_told_and_never_replaced(
    make_told_server: Callable[..., ToldServer], service: PushService, content: str
) -> None:
    server = make_told_server()
    with Browser(server) as browser:
        browser.sign_in()
        subscribe(browser, Subscriber())
        server.stop()
        (server.home.root / "push.pem").write_text(content)
        server.start()
        wait_for_approval(server)
        server.advance(61, TELLING)
        answer = browser.get("/api/push")
        assert (answer.status_code, answer.json()["key"]) == (503, "push_key_unreadable")
        assert str(server.home.root) not in answer.text
        assert (server.home.root / "push.pem").read_text() == content
        assert service.taken == []


def test_a_service_that_wants_a_contact_is_told_the_owners(
    server: ToldServer, service: PushService, make_browser: MakeBrowser
) -> None:
    browser = make_browser()
    subscribe(browser, Subscriber())
    path = f"/api/push/devices/{browser.me()['id']}/test"
    service.answers = [(403, {}), (403, {})]
    assert "push.contact" in browser.post(path).json()["detail"]
    for wrong in ("ada", "mailto:ada@localhost", "http://example.org", "https://localhost"):
        assert owners(server, "PUT", "/api/config/push.contact", {"value": wrong}).status_code == 422, wrong
    contact = "mailto:ada@example.org"
    assert owners(server, "PUT", "/api/config/push.contact", {"value": contact}).status_code == 200
    assert "push.contact" not in browser.post(path).json()["detail"]
    assert claims(service.wait(2)[1]["authorization"], f"https://{KNOWN}")["sub"] == contact


def test_only_a_browser_that_is_signed_in_is_told(server: ToldServer) -> None:
    assert owners(server, "PUT", "/api/push/subscription", Subscriber().body).json()["key"] == "no_browser"
    assert owners(server, "POST", "/api/push/devices/none/test").json()["key"] == "device_not_told"


def test_the_key_is_the_owners_alone_and_stays(server: ToldServer, make_browser: MakeBrowser) -> None:
    browser = make_browser()
    key = browser.get("/api/push").json()["key"]
    subscribe(browser, Subscriber())
    for name in ("push.pem", "push.json"):
        assert (server.home.root / name).stat().st_mode & 0o777 == 0o600
    server.stop()
    server.start()
    assert browser.get("/api/push").json()["key"] == key
    assert len(devices(browser)) == 1
