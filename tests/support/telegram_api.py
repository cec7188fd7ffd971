"""A Bot API on the loopback, written from its documentation, to which the real library talks: it counts what would reach people.

Its addresses, errors and limits are those of https://core.telegram.org/bots/api; what a bot may not do is refused as there.
"""

import html
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.messenger_api import MessengerAPI, Refusal

TOKEN = "123456789:AAFakeTokenOfATestThatNobodyElseKnows00"
BOT: dict[str, Any] = {"id": 123456789, "is_bot": True, "first_name": "Parachute", "username": "parachute_test_bot"}
_TEXT, _DATA, _FILE = 4096, 64, 20 * 1024 * 1024
_TAGS = frozenset(("b", "i", "u", "s", "a", "code", "pre", "blockquote", "tg-spoiler"))
_TAG = re.compile(r"<(/?)([a-z-]+)(?: (?:href|class)=\"[^\"<>]*\")?>")
_ATTACHED = {"sendPhoto": "photo", "sendVoice": "voice", "sendAudio": "audio", "sendDocument": "document"}


class Wrong(Refusal):
    """A refusal of the API."""

    def __init__(self, status: int, description: str, **parameters: Any) -> None:
        more = {"parameters": parameters} if parameters else {}
        super().__init__(status, {"ok": False, "error_code": status, "description": description, **more})


@dataclass
class Written:
    """A message that the bot has written: its plain text now, and every text that it had."""

    chat: int
    id: int
    text: str
    texts: list[str] = field(default_factory=list)
    buttons: list[str] = field(default_factory=list)
    answers: int | None = None
    attached: str = ""
    content: bytes = b""
    name: str = ""
    deleted: bool = False
    has_preview: bool = False
    """True if Telegram has shown what is at an address of one of its texts, which it fetches for that."""


class TelegramApi(MessengerAPI):
    """The service, what people do in it, and what the bot has written."""

    refusal = Wrong

    def __init__(self) -> None:
        routes = [
            Route("/bot{token}/{method}", self._call, methods=["GET", "POST"]),
            Route("/file/bot{token}/{path:path}", self._file),
        ]
        super().__init__(TOKEN, routes)
        self.bot = dict(BOT)
        self.written: list[Written] = []
        self.drafts: list[tuple[int, int, str]] = []
        self.answered: list[str] = []
        self.files: dict[str, bytes] = {}
        self.webhook = ""
        self.delivered: Counter[int] = Counter()
        """Number of times that each update was given out."""
        self.confirmed: set[int] = set()
        self.now: Callable[[], float] = time.time
        self._updates: list[dict[str, Any]] = []
        self._update_id = 700_000_000
        self._message_id = 1_000
        self._polls = 0
        self._lock = threading.RLock()

    # What people do.

    def write(self, text: str, *, chat: int = 42, user: int | None = None, **fields: Any) -> int:
        """Somebody writes a message, of which further fields may be named; its update's id."""
        return self.update({"message": self.message(text, chat=chat, user=user, **fields)})

    def edit(self, message: int, text: str, *, chat: int = 42, user: int | None = None) -> int:
        """Somebody changes a message."""
        fields = {"message_id": message, "edit_date": int(self.now())}
        return self.update({"edited_message": self.message(text, chat=chat, user=user, **fields)})

    def press(self, button: str, message: int, *, chat: int = 42, user: int | None = None) -> int:
        """Somebody presses a button below a message of the bot."""
        below = self.message("", chat=chat, message_id=message)
        query = {
            "id": str(self._update_id + 1),
            "from": self.user(user or chat),
            "chat_instance": "1",
            "message": below,
            "data": button,
        }
        return self.update({"callback_query": query})

    def message(self, text: str, *, chat: int = 42, user: int | None = None, **fields: Any) -> dict[str, Any]:
        """A message as the API describes it: private for a chat with a positive number."""
        with self._lock:
            self._message_id += 1
            number = self._message_id
        about: dict[str, Any] = {"id": chat, "type": "private", "first_name": "Ada"}
        if chat < 0:
            about = {"id": chat, "type": "supergroup", "title": "Family"}
        written = {"message_id": number, "date": int(self.now()), "chat": about, "from": self.user(user or abs(chat))}
        return {**written, **({"text": text} if text else {}), **fields}

    def user(self, number: int) -> dict[str, Any]:
        """A person."""
        return {"id": number, "is_bot": False, "first_name": "Ada", "last_name": "L"}

    def update(self, content: dict[str, Any]) -> int:
        """Something that happens; its id."""
        with self._lock:
            self._update_id += 1
            self._updates.append({"update_id": self._update_id, **content})
            number = self._update_id
        self._wake()
        return number

    def add_file(self, content: bytes) -> str:
        """A file that somebody has sent; its id."""
        name = f"file{len(self.files)}"
        self.files[name] = content
        return name

    # What is seen.

    def texts(self, chat: int = 42) -> list[str]:
        """Return the bot's messages that a chat shows."""
        return [each.text for each in self.written if each.chat == chat and not each.deleted]

    @property
    def waiting(self) -> int:
        """Return the number of unconfirmed updates."""
        return len(self._updates)

    # How it answers.

    async def _call(self, request: Request) -> Response:
        async with request.form() as form:
            method, fields = request.path_params["method"], dict(form)
            try:
                if request.path_params["token"] != self.token:
                    raise Wrong(401, "Unauthorized")
                result = await self._carry_out(method, fields, lambda: self._answer(method, fields))
            except Refusal as refusal:
                return JSONResponse(refusal.document, refusal.status)
        # In ASCII, as Telegram writes it: halves of characters go through, too.
        return Response(json.dumps({"ok": True, "result": result}), media_type="application/json")

    async def _answer(self, method: str, fields: dict[str, Any]) -> Any:
        if method == "getUpdates":
            return await self._get_updates(fields)
        with self._lock:
            if method == "getMe":
                return self.bot
            if method == "deleteWebhook":
                self.webhook = ""
                return True
            if method == "sendMessage":
                return self._send(fields)
            if method in _ATTACHED:
                return await self._send_file(_ATTACHED[method], fields)
            if method == "editMessageText":
                return self._edit(fields)
            if method == "editMessageReplyMarkup":
                return self._edit_markup(fields)
            if method == "deleteMessage":
                self._found(fields, "message to delete not found").deleted = True
                return True
            if method == "sendMessageDraft":
                if int(fields["chat_id"]) < 0:
                    raise Wrong(400, "Bad Request: drafts are for private chats")
                self.drafts.append((int(fields["chat_id"]), int(fields["draft_id"]), self._text(fields)))
                return True
            if method == "answerCallbackQuery":
                self.answered.append(fields["callback_query_id"])
                return True
            if method == "sendChatAction":
                return True
            if method == "getFile":
                return self._get_file(fields["file_id"])
        raise Wrong(404, "Not Found")

    async def _get_updates(self, fields: dict[str, Any]) -> list[dict[str, Any]]:
        if self.webhook:
            raise Wrong(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook first")
        self._polls += 1
        poll = self._polls
        self._changed.set()
        offset, limit = int(fields.get("offset", 0)), int(fields.get("limit", 100))
        if offset:
            self.confirmed |= {each["update_id"] for each in self._updates if each["update_id"] < offset}
            self._updates = [each for each in self._updates if each["update_id"] >= offset]
            self.tell()
        end = time.monotonic() + int(fields.get("timeout", 0))
        while not self._updates and time.monotonic() < end and not self._server.should_exit:
            self._changed.clear()
            await self._wait_for_news()
            if poll != self._polls:
                raise Wrong(409, "Conflict: terminated by other getUpdates request; make sure that only one runs")
            if self.token == "none":
                raise Wrong(401, "Unauthorized")
        given = self._updates[:limit]
        self.delivered.update(each["update_id"] for each in given)
        return given

    def _send(self, fields: dict[str, Any]) -> dict[str, Any]:
        return self._write(fields, self._text(fields))

    async def _send_file(self, kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        sent = next(each for each in fields.values() if isinstance(each, UploadFile))
        content = await sent.read()
        if len(content) > 50 * 1024 * 1024:
            raise Wrong(413, "Request Entity Too Large")
        result = self._write(fields, fields.get("caption", ""))
        self.written[-1].attached, self.written[-1].content = kind, content
        self.written[-1].name = sent.filename or ""
        return result

    def _write(self, fields: dict[str, Any], text: str) -> dict[str, Any]:
        self._message_id += 1
        reply = json.loads(fields.get("reply_parameters", "{}"))
        written = Written(
            int(fields["chat_id"]), self._message_id, text, [text], _buttons(fields), reply.get("message_id")
        )
        self.written.append(written)
        written.has_preview = _is_previewed(fields)
        return self._described(written)

    def _edit(self, fields: dict[str, Any]) -> dict[str, Any]:
        written = self._found(fields, "message to edit not found")
        text, buttons = self._text(fields), _buttons(fields)
        if (written.text, written.buttons) == (text, buttons):
            raise Wrong(400, "Bad Request: message is not modified: specified new message content is exactly the same")
        written.text, written.buttons = text, buttons
        written.texts.append(text)
        written.has_preview |= _is_previewed(fields)
        return self._described(written)

    def _edit_markup(self, fields: dict[str, Any]) -> dict[str, Any]:
        written = self._found(fields, "message to edit not found")
        if written.buttons == _buttons(fields):
            raise Wrong(400, "Bad Request: message is not modified: specified new message content is exactly the same")
        written.buttons = _buttons(fields)
        return self._described(written)

    def _found(self, fields: dict[str, Any], otherwise: str) -> Written:
        for each in self.written:
            if (each.chat, each.id) == (int(fields["chat_id"]), int(fields["message_id"])) and not each.deleted:
                return each
        raise Wrong(400, f"Bad Request: {otherwise}")

    def _described(self, written: Written) -> dict[str, Any]:
        chat = self.message("", chat=written.chat)["chat"]
        return {
            "message_id": written.id,
            "date": int(self.now()),
            "chat": chat,
            "from": self.bot,
            "text": written.text,
        }

    def _text(self, fields: dict[str, Any]) -> str:
        text: str = fields.get("text", "")
        if fields.get("parse_mode") == "HTML":
            text = parsed(text)
        if not text.strip():
            raise Wrong(400, "Bad Request: message text is empty")
        if len(text.encode("utf-16-le")) // 2 > _TEXT:
            raise Wrong(400, "Bad Request: message is too long")
        return text

    def _get_file(self, file: str) -> dict[str, Any]:
        if file not in self.files:
            raise Wrong(400, "Bad Request: invalid file_id")
        content = self.files[file]
        if len(content) > _FILE:
            raise Wrong(400, "Bad Request: file is too big")
        return {"file_id": file, "file_unique_id": file, "file_size": len(content), "file_path": f"documents/{file}"}

    async def _file(self, request: Request) -> Response:
        content = self.files.get(request.path_params["path"].rpartition("/")[2])
        if request.path_params["token"] != self.token or content is None:
            return Response(status_code=404)
        return Response(content, media_type="application/octet-stream")


def _is_previewed(fields: dict[str, Any]) -> bool:
    options = json.loads(fields.get("link_preview_options", "{}"))
    return "://" in fields.get("text", "") and not options.get("is_disabled", False)


def _buttons(fields: dict[str, Any]) -> list[str]:
    rows = json.loads(fields.get("reply_markup", "{}")).get("inline_keyboard", [])
    buttons = [button["callback_data"] for row in rows for button in row]
    if any(not 0 < len(button.encode()) <= _DATA for button in buttons):
        raise Wrong(400, "Bad Request: BUTTON_DATA_INVALID")
    return buttons


def parsed(text: str) -> str:
    """The text of what Telegram takes as HTML."""
    open_tags: list[str] = []
    for match in _TAG.finditer(text):
        if match[2] not in _TAGS:
            raise Wrong(400, f'Bad Request: can\'t parse entities: Unsupported start tag "{match[2]}"')
        if not match[1]:
            open_tags.append(match[2])
        elif not open_tags or open_tags.pop() != match[2]:
            raise Wrong(400, "Bad Request: can't parse entities: Unmatched end tag")
    plain = _TAG.sub("", text)
    if open_tags or "<" in plain or ">" in plain.replace("&gt;", ""):
        raise Wrong(400, "Bad Request: can't parse entities: Can't find end tag")
    return html.unescape(plain).strip()
