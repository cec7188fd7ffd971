"""A browser of a test: its cookies, and the headers by which a browser says which page asks."""

import asyncio
import json
from typing import Any

import httpx2

from parachute.security.keys.cli_token import CliToken
from tests.support.installation import PLAIN, Installation


class Browser:
    """One browser with a page of the computer open; `here` is its own address, by which wrong tries are counted."""

    def __init__(self, computer: Installation, here: str = "127.0.0.1") -> None:
        self.computer = computer
        # Each request shows what it has; a jar of the library would leave out what another page has set.
        self.cookie: str | None = None
        self.client = httpx2.Client(
            base_url=computer.url, timeout=60, transport=httpx2.HTTPTransport(local_address=here), trust_env=False
        )

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """One request of the page; a header named with `_` for `-` replaces what the browser would send, or with "" leaves it out."""
        sent = {
            "sec-fetch-site": "same-origin",
            "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Firefox/130.0",
        }
        if method != "GET":
            sent["origin"] = self.computer.url
        if self.cookie:
            sent["cookie"] = self.cookie
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.client.request(method, path, json=body, headers={n: v for n, v in sent.items() if v})
        for header in answer.headers.get_list("set-cookie"):
            pair, *attributes = header.split("; ")
            if "Secure" not in attributes and "HttpOnly" in attributes:
                self.cookie = None if "Max-Age=0" in attributes else pair
        self.client.cookies.clear()
        return answer

    def get(self, path: str, **headers: str) -> httpx2.Response:
        """Read something."""
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """Change something."""
        return self.ask("POST", path, {} if body is None else body, **headers)

    def me(self) -> dict[str, Any]:
        """Its session, as the computer tells it."""
        found: dict[str, Any] = self.get("/api/pairing/me").json()
        return found

    def sign_in(self, **asked: Any) -> dict[str, Any]:
        """Sign in with a new code of the command line; `name` and `scopes` are the code's."""
        answer = self.post("/api/pairing/sign-in", {"code": new_code(self.computer, **asked)["code"]})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


def owners(computer: Installation, method: str, path: str, body: Any = None) -> httpx2.Response:
    """One call as the command line makes it."""
    headers = {"authorization": f"Bearer {CliToken(computer.home.root).obtain()}"}
    return httpx2.request(method, f"{computer.url}{path}", json=body, headers=headers, timeout=60, **PLAIN)


def new_code(computer: Installation, **asked: Any) -> dict[str, Any]:
    """A code as `parachute pair` gets it."""
    answer = owners(computer, "POST", "/api/pairing/codes", asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = json.loads(answer.text)
    return found


async def call_pairing(computer: Installation) -> list[str]:
    """Use every route as it is meant to be, from an address that has tried nothing wrong; the routes that answered 200."""
    return await asyncio.to_thread(_call_pairing, computer)


def _call_pairing(computer: Installation) -> list[str]:
    done = []
    with Browser(computer, "127.0.0.31") as browser:

        def call(route: str, body: Any = None, **names: str) -> Any:
            method, path = route.split(" ")
            answer = browser.ask(method, path.format(**names), body)
            assert answer.status_code == 200, f"{route}: {answer.status_code} {answer.text[:300]}"
            done.append(route)
            return answer.json()

        call("POST /api/pairing/sign-in", {"code": new_code(computer)["code"]})
        call("GET /api/pairing/me")
        assert call("GET /api/pairing/address")["is_reachable"] is False
        code = call("POST /api/pairing/codes", {})
        call("DELETE /api/pairing/codes/{identifier}", identifier=code["id"])
        call("POST /api/pairing/confirm", {"code": new_code(computer)["code"]})
        sessions = call("GET /api/pairing/sessions")["sessions"]
        current = next(each["id"] for each in sessions if each["is_current"])
        call("PATCH /api/pairing/sessions/{identifier}", {"name": "Desk"}, identifier=current)
        # A key of RFC 8291, and a service that the owner has to allow first: nothing leaves this machine.
        call(
            "PUT /api/push/subscription",
            {
                "endpoint": "https://push.example.org/a",
                "key": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
                "secret": "BTBZMqHH6r4Tts7J_aSIgg",
            },
        )
        assert [each["state"] for each in call("GET /api/push")["devices"] if each["is_current"]] == ["asked"]
        call("DELETE /api/push/devices/{identifier}", identifier=current)
        call("DELETE /api/pairing/sessions/{identifier}", identifier=current)
        call("POST /api/pairing/sign-out")
    return done
