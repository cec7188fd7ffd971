"""Attacks on the signing in of browsers: codes that are guessed, used twice or raised, and cookies that others have."""

import json
import threading

import pytest

from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.service import Keys
from tests.support.browser import Browser, new_code, owners
from tests.support.computer import Computer
from tests.support.gate import Gate
from tests.support.messages_api import MessagesAPI, hold, several, text


def test_codes_cannot_be_guessed(computer: Computer) -> None:
    code = new_code(computer)["code"]
    with Browser(computer, "127.0.0.11") as thief, Browser(computer, "127.0.0.12") as owner:
        for number in range(5):
            refused = thief.post("/api/pairing/sign-in", {"code": f"2222-222{number + 2}"})
            assert (refused.status_code, refused.json()["key"]) == (403, "wrong_code")
        limited = thief.post("/api/pairing/sign-in", {"code": code})
        assert (limited.status_code, limited.json()["key"]) == (429, "too_many_tries")
        limited = thief.post("/api/pairing/sign-in", {"key": "para_x"})
        assert limited.json()["key"] == "too_many_tries"
        taken = owner.post("/api/pairing/sign-in", {"code": code})
        assert taken.status_code == 200, "the owner is not held up, and the code lives on"
        limited = thief.post("/api/pairing/sign-in", {"code": "x"}, x_forwarded_for="192.168.1.9")
        assert limited.json()["key"] == "too_many_tries", "a header makes nobody somebody else"
    computer.wait_until(lambda: "from 127.0.0.11" in _audit(computer), "the tries are recorded")
    assert code not in _audit(computer) + computer.logs()


def test_of_many_that_have_one_code_one_gets_in(computer: Computer) -> None:
    code, together, answers = new_code(computer)["code"], threading.Barrier(4), []

    def redeem(number: int) -> None:
        with Browser(computer, f"127.0.0.{20 + number}") as each:
            together.wait()
            answers.append(each.post("/api/pairing/sign-in", {"code": code}).status_code)

    threads = [threading.Thread(target=redeem, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200, 403, 403, 403]


def test_nobody_raises_itself(computer: Computer) -> None:
    with Browser(computer) as family:
        code = new_code(computer, scopes=["chat:read,write"])["code"]
        asked = {"code": code, "scopes": ["*:read,write,admin"]}
        assert family.post("/api/pairing/sign-in", asked).status_code == 422
        assert family.post("/api/pairing/sign-in", {"code": code}).json()["scopes"] == ["chat:read,write"]
        for method, path, body in (
            ("POST", "/api/pairing/codes", {}),
            ("POST", "/api/auth/keys", {"label": "mine"}),
            ("GET", "/api/pairing/sessions", None),
            ("POST", "/api/chat", {"message": "Hello", "trustLevel": "direct"}),
            ("POST", "/api/resume", {}),
        ):
            answer = family.ask(method, path, body)
            assert answer.status_code == 403, path
            assert answer.json()["key"] in ("browser_lacks_scope", "not_owner"), path
        # What confirms gives no rights.
        stronger = new_code(computer)["code"]
        assert family.post("/api/pairing/confirm", {"code": stronger}).status_code == 200
        assert family.me()["scopes"] == ["chat:read,write"]
        assert family.post("/api/pairing/codes").json()["key"] == "browser_lacks_scope"


def test_a_page_on_another_port_of_this_host_gets_nothing(computer: Computer) -> None:
    with Browser(computer) as browser:
        browser.sign_in()
        for path in ("/api/inbox/events", "/api/chat", "/openapi.json"):
            # As Chromium sends it over TLS and on this machine, and as everybody does without TLS.
            assert browser.get(path, sec_fetch_site="same-site").json()["key"] == "origin_not_allowed"
            assert browser.get(path, sec_fetch_site="").json()["key"] == "origin_not_allowed"
        other = "http://127.0.0.1:8080"
        for headers in ({"origin": other}, {"origin": ""}, {"origin": "null"}):
            refused = browser.post("/api/chat", {"message": "Hello"}, **headers)
            assert refused.json()["key"] == "origin_not_allowed"
            assert browser.post("/api/pairing/sign-out", **headers, sec_fetch_site="same-site").status_code == 403
        code = new_code(computer)["code"]
        # Nor does it sign the owner in as somebody else.
        assert browser.post("/api/pairing/sign-in", {"code": code}, origin=other).json()["key"] == "origin_not_allowed"
        assert browser.me()["signed_in"] is True
        assert browser.get("/api/chat", host="evil.example").json()["key"] == "host_not_listed"


def test_a_cookie_is_over_when_its_browser_has_signed_out(computer: Computer) -> None:
    with Browser(computer) as browser:
        browser.sign_in()
        stolen = browser.cookie
        browser.post("/api/pairing/sign-out")
        for headers in ({}, {"x_parachute_console": "1"}):
            browser.cookie = stolen
            answer = browser.get("/api/chat", **headers)
            assert (answer.status_code, answer.json()["key"]) == (401, "signed_out")
        browser.cookie = stolen
        assert browser.me()["signed_in"] is False


def test_the_file_of_hashes_opens_nothing(computer: Computer) -> None:
    with Browser(computer) as browser, Browser(computer) as thief:
        browser.sign_in()
        path = computer.home.root / "browser-sessions.yaml"
        assert path.stat().st_mode & 0o777 == 0o600
        stored = path.read_text()
        assert browser.cookie is not None
        assert browser.cookie.partition("=")[2] not in stored
        for digest in {line.split("sha256:")[1].strip() for line in stored.splitlines() if "sha256:" in line}:
            thief.cookie = f"parachute={digest}"
            assert thief.get("/api/chat").json()["key"] == "signed_out"


@pytest.mark.parametrize("how", ["revoked", "with its key"])
def test_the_stream_of_a_browser_that_is_signed_out_ends(computer: Computer, api: MessagesAPI, how: str) -> None:
    gate = Gate()
    api.script(several(text("first "), hold(gate, text("second"))))
    keys = Keys(computer.home.root)
    with Browser(computer) as browser:
        key, secret = keys.create(f"phone {how}")
        proof = {"key": secret} if how == "with its key" else {"code": new_code(computer)["code"]}
        session = browser.post("/api/pairing/sign-in", proof).json()["id"]
        headers = {"cookie": str(browser.cookie), "origin": computer.url}
        seen = ""
        with browser.client.stream("POST", "/api/chat", json={"message": "Hello"}, headers=headers) as response:
            assert response.status_code == 200
            for part in response.iter_text():
                seen += part
                if "first" in seen and not gate.is_open:
                    if how == "revoked":
                        assert owners(computer, "DELETE", f"/api/pairing/sessions/{session}").status_code == 200
                    else:
                        keys.revoke(key.id)
                    gate.open()
        assert gate.is_open
        assert "second" not in seen
        assert browser.get("/api/chat").json()["key"] == "signed_out"


def test_another_program_of_the_owner_signs_a_browser_out_at_once(computer: Computer) -> None:
    with Browser(computer) as browser:
        identifier = browser.sign_in()["id"]
        BrowserSessions(computer.home.root, Keys(computer.home.root)).revoke(identifier)
        assert browser.get("/api/chat").json()["key"] == "signed_out"


def _audit(computer: Computer) -> str:
    lines = "".join(path.read_text() for path in (computer.vault / ".parachute" / "audit").glob("*.jsonl"))
    return "\n".join(line for line in lines.splitlines() if json.loads(line)["event_type"] == "refused_key")
