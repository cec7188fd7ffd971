"""Synapse on the loopback, asked as `MatrixAPI` is: what it answers is what the fake home server is compared with."""

import hashlib
import hmac
import itertools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import httpx2

from tests.real import installed
from tests.real.synapse_settings import settings
from tests.support.computer import free_port
from tests.support.installation import PLAIN
from tests.support.matrix_api import BOT, People
from tests.support.waiting import until, wait_until

_CLIENT = "/_matrix/client/v3"
_SECRET = "registers people"
_HOST = BOT.partition(":")[2]


class Synapse(People):
    """A home server with an account for the bot, whose token is `token`; each person has one, too."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count(1)
        self._tokens: dict[str, str] = {}
        self._makers: dict[str, str] = {}
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        self._client = httpx2.Client(base_url=self.url, timeout=60, **PLAIN)
        self._process: subprocess.Popen[bytes]
        (folder / "all.yaml").write_text(json.dumps(settings(folder, _HOST, port, _SECRET)))

    def __enter__(self) -> Self:
        program = [
            str(installed.python("matrix")),
            "-m",
            "synapse.app.homeserver",
            "-c",
            str(self._folder / "all.yaml"),
        ]
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                program, cwd=self._folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        wait_until(self._is_there, "Synapse answers", (self._folder / "log").read_text)
        self._register("admin", is_admin=True)
        self.token = self._register(BOT[1:].partition(":")[0])
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        self._client.close()

    # What people do.

    def person(self, name: str) -> str:
        """Somebody with an account; their id."""
        local = f"person{next(self._numbers)}"
        self._register(local)
        user = f"@{local}:{_HOST}"
        self.ask(user, "PUT", "profile", user, "displayname", body={"displayname": name})
        return user

    def direct(self, user: str, *, is_encrypted: bool = False) -> str:
        # `trusted_private_chat` would make the bot a creator of the room, whom nobody can put out.
        return self._room(user, is_encrypted, preset="private_chat", is_direct=True, invite=[BOT])

    def group(self, user: str, title: str = "Family", *others: str, is_encrypted: bool = False) -> str:
        room = self._room(user, is_encrypted, preset="private_chat", name=title)
        for other in others:
            self.come(room, other)
        self.invite(room, BOT)
        return room

    def put(self, room: str, user: str, kind: str, content: dict[str, Any], state_key: str | None = None) -> str:
        where = ("send", kind, f"t{next(self._numbers)}") if state_key is None else ("state", kind, state_key)
        return str(self.ask(user, "PUT", "rooms", room, *where, body=content)["event_id"])

    def redact(self, room: str, user: str, message: str) -> str:
        """Somebody takes a message back."""
        where = ("redact", message, f"t{next(self._numbers)}")
        return str(self.ask(user, "PUT", "rooms", room, *where, body={})["event_id"])

    def come(self, room: str, user: str) -> None:
        """Somebody is invited into a room, and comes."""
        self.invite(room, user)
        self.ask(user, "POST", "join", room, body={})

    def invite(self, room: str, user: str) -> None:
        """Invite somebody, as the person who has made the room."""
        self.ask(self._makers[room], "POST", "rooms", room, "invite", body={"user_id": user})

    def put_out(self, room: str, by: str) -> None:
        """Somebody puts the bot out of a room."""
        self.ask(by, "POST", "rooms", room, "kick", body={"user_id": BOT})

    def add_file(self, content: bytes, media_type: str = "application/octet-stream") -> str:
        """A file that somebody has uploaded; its address."""
        headers = self._headers(f"@admin:{_HOST}") | {"content-type": media_type}
        answer = self._client.post("/_matrix/media/v3/upload", content=content, headers=headers)
        return str(answer.raise_for_status().json()["content_uri"])

    def limit(self, user: str, per_second: int, at_once: int) -> None:
        """Let somebody write so many messages only, 0 for all."""
        path = f"/_synapse/admin/v1/users/{quote(user)}/override_ratelimit"
        body = {"messages_per_second": per_second, "burst_count": at_once}
        self._client.post(path, json=body, headers=self._headers(f"@admin:{_HOST}")).raise_for_status()

    def sign_in(self) -> str:
        """Another token of the bot."""
        path = f"/_synapse/admin/v1/users/{quote(BOT)}/login"
        answer = self._client.post(path, json={}, headers=self._headers(f"@admin:{_HOST}")).raise_for_status()
        return str(answer.json()["access_token"])

    def sign_out(self, token: str) -> None:
        """Make a token worthless."""
        headers = {"authorization": f"Bearer {token}"}
        self._client.post(f"{_CLIENT}/logout", json={}, headers=headers).raise_for_status()

    # What is seen.

    def membership(self, room: str) -> str:
        found = self.ask(self._makers[room], "GET", "rooms", room, "members")["chunk"]
        mine = (each["content"]["membership"] for each in found if each["state_key"] == BOT)
        return str(next(mine, "leave"))

    def events(self, room: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask(
            self._makers[room], "GET", "rooms", room, "messages", query={"dir": "f", "limit": "1000"}
        )["chunk"]
        return found

    def wait(self, condition: Callable[[], Any], what: str, report: Callable[[], str] = lambda: "") -> Any:
        """Wait as `Changes.wait` does; Synapse tells nobody when to look."""
        return wait_until(condition, what, report)

    async def happens(self, condition: Callable[[], Any], what: str, report: Callable[[], str] = lambda: "") -> Any:
        """Wait without blocking the event loop."""
        return await until(condition, what, report)

    # How it is asked.

    def ask(self, user: str, method: str, *path: str, body: Any = None, query: dict[str, str] | None = None) -> Any:
        """Somebody asks; the answer, which is none of an error."""
        where = "/".join((_CLIENT, *(quote(part, safe="") for part in path)))
        answer = self._client.request(method, where, json=body, params=query, headers=self._headers(user))
        assert answer.is_success, f"{method} {where}: {answer.status_code} {answer.text}"
        return answer.json()

    def _headers(self, user: str) -> dict[str, str]:
        return {"authorization": f"Bearer {self._tokens[user]}"}

    def _room(self, user: str, is_encrypted: bool, **about: Any) -> str:
        algorithm = {"algorithm": "m.megolm.v1.aes-sha2"}
        first = [{"type": "m.room.encryption", "state_key": "", "content": algorithm}] if is_encrypted else []
        room = str(self.ask(user, "POST", "createRoom", body={"initial_state": first, **about})["room_id"])
        self._makers[room] = user
        return room

    def _is_there(self) -> bool:
        assert self._process.poll() is None, (self._folder / "log").read_text()
        try:
            return self._client.get("/health").is_success
        except httpx2.HTTPError:
            return False

    def _register(self, local: str, *, is_admin: bool = False) -> str:
        path = "/_synapse/admin/v1/register"
        nonce = self._client.get(path).json()["nonce"]
        said = "\0".join((nonce, local, "password of a test", "admin" if is_admin else "notadmin"))
        body = {
            "nonce": nonce,
            "username": local,
            "password": "password of a test",
            "admin": is_admin,
            "mac": hmac.new(_SECRET.encode(), said.encode(), hashlib.sha1).hexdigest(),
        }
        answer = self._client.post(path, json=body).raise_for_status().json()
        self._tokens[answer["user_id"]] = answer["access_token"]
        return str(answer["access_token"])
