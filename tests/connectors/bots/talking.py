"""Somebody who talks to a bot, and its owner."""

import itertools
from dataclasses import dataclass
from typing import Any

import httpx2

from parachute.security.keys.cli_token import CliToken
from tests.support.computer import Computer
from tests.support.installation import PLAIN
from tests.support.messages_api import MessagesAPI
from tests.support.telegram_api import TelegramApi, Written

_PEOPLE = itertools.count(501)


@dataclass
class Bot:
    """A computer with a bot; `person` is the id of who talks, and of the private chat."""

    computer: Computer
    telegram: TelegramApi
    model: MessagesAPI
    person: int = 500

    def anew(self) -> "Bot":
        """Somebody whom the bot does not know."""
        return Bot(self.computer, self.telegram, self.model, next(_PEOPLE))

    def call(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """Ask as the owner."""
        headers = {"authorization": f"Bearer {CliToken(self.computer.home.root).obtain()}"}
        url = f"{self.computer.url}{path}"
        answer = httpx2.request(method, url, json=body, headers=headers, timeout=60, **PLAIN)
        assert answer.status_code == status, f"{path}: {answer.status_code} {answer.text[:500]}"
        return answer.json()

    def command(self, *arguments: str) -> str:
        """Run a command of the owner; returns what it prints."""
        done = self.computer.command(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def requests(self) -> list[dict[str, Any]]:
        """Everybody who waits."""
        found: list[dict[str, Any]] = self.call("GET", "/api/bots/pairing")["requests"]
        return found

    def request(self, chat: int | None = None) -> dict[str, Any]:
        """The request of a chat, by default the person's own; waits for it."""
        wanted = str(self.person if chat is None else chat)

        def found() -> dict[str, Any] | None:
            return next((each for each in self.requests() if each["chat_id"] == wanted), None)

        if chat is None:
            # A person hears of it, a group does not.
            self.wait_text("Your code is")
        asked: dict[str, Any] = self.computer.wait_until(found, "somebody asks to be let in")
        return asked

    def let_in(self, **body: Any) -> dict[str, Any]:
        """Somebody knocks and is let in; the chat."""
        self.telegram.write("hello?", chat=self.person)
        approved = self.call("POST", f"/api/bots/pairing/{self.request()['id']}/approve", body)
        self.wait_text("write to me now")
        chat: dict[str, Any] = approved["chat"]
        return chat

    def forget_requests(self) -> None:
        """Take the requests away that a test has left: three wait at the most."""
        for each in self.requests():
            self.call("POST", f"/api/bots/pairing/{each['id']}/deny")

    def write(self, text: str, **fields: Any) -> None:
        """The person writes."""
        self.telegram.write(text, chat=self.person, **fields)

    def speak(self, sound: bytes = b"OggS", **fields: Any) -> None:
        """The person says something instead of writing it."""
        voice = {
            "file_id": self.telegram.add_file(sound),
            "file_unique_id": "v",
            "duration": 3,
            "mime_type": "audio/ogg",
        }
        self.write("", voice=voice, **fields)

    def texts(self, chat: int | None = None) -> list[str]:
        """The bot's messages in a chat."""
        return self.telegram.texts(self.person if chat is None else chat)

    def wait_text(self, part: str, chat: int | None = None, count: int = 1) -> str:
        """Wait until a chat shows a text, or several."""

        def found() -> list[str]:
            return [each for each in self.texts(chat) if part in each]

        what = f"the chat shows {part!r}, not only {self.texts(chat)}"
        self.telegram.wait(lambda: len(found()) >= count, what, self.computer.logs)
        return found()[-1]

    def written(self, part: str) -> Written:
        """The message of the person's chat with a text; waits for it."""
        self.wait_text(part)
        return next(each for each in self.telegram.written if each.chat == self.person and part in each.text)

    def chat(self) -> dict[str, Any]:
        """The person's chat."""
        found = self.call("GET", "/api/bots/chats")["chats"]
        return next(each for each in found if each["chat_id"] == str(self.person))

    def session(self, identifier: str | None = None) -> dict[str, Any]:
        """The conversation of the person's chat."""
        found: dict[str, Any] = self.call("GET", f"/api/chat/{identifier or self.chat()['session_id']}")
        return found
