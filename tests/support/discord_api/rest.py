"""REST: what the bot asks and writes, with the checks that Discord makes."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import BodyPartReader, web

from .world import APPLICATION, BOT, Channel

if TYPE_CHECKING:
    from .server import DiscordAPI

FILE_LIMIT = 10 * 1024 * 1024
_NOT_FOUND = {10003: "Unknown Channel", 10008: "Unknown Message", 10013: "Unknown User", 10062: "Unknown interaction"}


@dataclass
class Bucket:
    """A rate limit: after `remaining` requests each is refused until `refusals` are used up."""

    remaining: int
    refusals: int
    seconds: float


class Refusal(Exception):
    """An answer that is an error of Discord's."""

    def __init__(self, status: int, code: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.document = {"message": message, "code": code, **more}


def missing(code: int) -> Refusal:
    return Refusal(404, code, _NOT_FOUND[code])


def invalid(field: str, problem: str) -> Refusal:
    return Refusal(
        400, 50035, "Invalid Form Body", errors={field: {"_errors": [{"code": "INVALID", "message": problem}]}}
    )


def answered(document: Any, status: int = 200) -> web.Response:
    """An answer as Discord's, whose type names no character set."""
    headers = {"Via": "1.1 fake", "Content-Type": "application/json"}
    return web.Response(body=json.dumps(document).encode(), status=status, headers=headers)


class Rest:
    """The routes; `requests` counts them by method and path with the ids left out."""

    def __init__(self, server: "DiscordAPI") -> None:
        self._server = server
        self.requests: Counter[str] = Counter()
        self.limits: dict[str, Bucket] = {}
        self.failures: list[int] = []
        self.acknowledged: list[str] = []

    def routes(self) -> list[web.RouteDef]:
        channel, message = "/channels/{channel}", "/channels/{channel}/messages/{message}"
        table = (
            ("GET", "/users/@me", self._me),
            ("GET", "/users/{user}", self._user),
            ("GET", "/oauth2/applications/@me", self._application),
            ("GET", channel, self._channel),
            ("GET", f"{channel}/messages", self._history),
            ("POST", f"{channel}/messages", self._write),
            ("PATCH", message, self._change),
            ("DELETE", message, self._delete),
            ("POST", f"{channel}/typing", self._typing),
        )
        routes = [
            web.route(method, f"/api/v10{path}", self._answering(f"{method} {path}", answer))
            for method, path, answer in table
        ]
        routes.append(web.post("/api/v10/interactions/{id}/{token}/callback", self._acknowledge))
        return routes

    def _answering(self, name: str, answer: Any) -> Any:
        async def handle(request: web.Request) -> web.Response:
            self.requests[name] += 1
            try:
                if request.headers.get("Authorization") != f"Bot {self._server.gateway.token}":
                    raise Refusal(401, 0, "401: Unauthorized")
                if self.failures:
                    return web.Response(status=self.failures.pop(0))
                self._check_limit(name)
                document = await answer(request)
                return answered(document) if document is not None else web.Response(status=204)
            except Refusal as refusal:
                return answered(refusal.document, refusal.status)
            finally:
                self._server.tell()

        return handle

    def _check_limit(self, name: str) -> None:
        bucket = self.limits.get(name)
        if bucket is None:
            return
        if bucket.remaining:
            bucket.remaining -= 1
        elif bucket.refusals:
            bucket.refusals -= 1
            raise Refusal(429, 0, "You are being rate limited.", retry_after=bucket.seconds, **{"global": False})

    def _open(self, request: web.Request) -> Channel:
        channel = self._server.channels.get(request.match_info["channel"])
        if channel is None:
            raise missing(10003)
        if not channel.is_open:
            raise Refusal(403, 50001 if channel.guild else 50007, "Missing Access")
        return channel

    async def _me(self, _: web.Request) -> dict[str, Any]:
        return self._server.bot | {"mfa_enabled": True, "locale": "en-US", "verified": True, "email": None, "flags": 0}

    async def _user(self, request: web.Request) -> dict[str, Any]:
        if request.match_info["user"] != BOT:
            raise missing(10013)
        return self._server.bot

    async def _application(self, _: web.Request) -> dict[str, Any]:
        text = ("name", "description", "icon", "summary", "terms_of_service_url", "privacy_policy_url")
        return {
            "id": APPLICATION,
            "bot_public": False,
            "bot_require_code_grant": False,
            "verify_key": "00",
            "flags": 0,
            "team": None,
            "owner": self._server.bot,
            "rpc_origins": [],
            "redirect_uris": [],
            "interactions_endpoint_url": None,
            **dict.fromkeys(text, ""),
        }

    async def _channel(self, request: web.Request) -> dict[str, Any]:
        return self._open(request).document()

    async def _history(self, request: web.Request) -> list[dict[str, Any]]:
        channel = self._open(request)
        limit, after = int(request.query.get("limit", 50)), int(request.query.get("after", 0))
        if not 1 <= limit <= 100:
            raise invalid("limit", "int value should be between 1 and 100.")
        found = [message for message in channel.messages.values() if int(message["id"]) > after]
        chosen = found[:limit] if "after" in request.query else found[-limit:]
        return [
            {key: value for key, value in message.items() if key not in ("guild_id", "member", "nonce")}
            for message in reversed(chosen)
        ]

    async def _write(self, request: web.Request) -> dict[str, Any]:
        channel = self._open(request)
        payload, files = await self._payload(request)
        self._check(payload, files)
        nonce = payload.get("nonce")
        if nonce is not None and payload.get("enforce_nonce") and nonce in channel.nonces:
            if channel.nonces[nonce] not in channel.messages:
                raise missing(10008)
            return channel.messages[channel.nonces[nonce]]
        if (gate := self._server.before_writing) is not None:
            await gate(channel, payload)
        reference = payload.get("message_reference")
        message = self._server.message(
            channel,
            self._server.bot,
            payload.get("content") or "",
            nonce=nonce,
            flags=payload.get("flags", 0),
            components=payload.get("components", []),
            answers=str(reference["message_id"]) if reference else None,
            files=files,
        )
        if nonce is not None:
            channel.nonces[nonce] = message["id"]
        await self._server.gateway.dispatch("MESSAGE_CREATE", message)
        if (gate := self._server.after_writing) is not None:
            await gate(channel, message)
        return message

    async def _payload(self, request: web.Request) -> tuple[dict[str, Any], list[tuple[str, bytes]]]:
        if not request.content_type.startswith("multipart/"):
            return await request.json(), []
        payload: dict[str, Any] = {}
        files = []
        async for part in await request.multipart():
            assert isinstance(part, BodyPartReader)
            if part.name == "payload_json":
                payload = json.loads(await part.text())
            else:
                files.append((part.filename or "", bytes(await part.read())))
        return payload, files

    def _check(self, payload: dict[str, Any], files: list[tuple[str, bytes]]) -> None:
        if len(payload.get("content") or "") > 2000:
            raise invalid("content", "Must be 2000 or fewer in length.")
        if not (payload.get("content") or "").strip() and not files:
            raise Refusal(400, 50006, "Cannot send an empty message")
        if len(str(payload.get("nonce", ""))) > 25:
            raise invalid("nonce", "Must be 25 or fewer in length.")
        if any(len(content) > FILE_LIMIT for _, content in files):
            raise Refusal(413, 40005, "Request entity too large")
        rows = payload.get("components", [])
        buttons = [each for row in rows for each in row["components"]]
        values = [each["custom_id"] for each in buttons]
        if len(rows) > 5 or any(len(row["components"]) > 5 for row in rows) or len(set(values)) != len(values):
            raise invalid("components", "They cannot be so many, and none twice.")
        if any(not 1 <= len(value) <= 100 for value in values) or any(len(each["label"]) > 80 for each in buttons):
            raise invalid("components", "Must be 100 or fewer in length.")

    def _own(self, channel: Channel, request: web.Request) -> dict[str, Any]:
        message = channel.messages.get(request.match_info["message"])
        if message is None:
            raise missing(10008)
        return message

    async def _change(self, request: web.Request) -> dict[str, Any]:
        channel = self._open(request)
        message = self._own(channel, request)
        if message["author"]["id"] != BOT:
            raise Refusal(403, 50005, "Cannot edit a message authored by another user")
        payload, files = await self._payload(request)
        self._check(payload, files)
        changed = {name: payload[name] for name in ("content", "components") if name in payload}
        message |= changed | {"edited_timestamp": self._server.ids.now()}
        self._server.edits[message["id"]] += 1
        await self._server.gateway.dispatch("MESSAGE_UPDATE", message)
        return message

    async def _delete(self, request: web.Request) -> None:
        channel = self._open(request)
        await self._server.remove(channel, self._own(channel, request)["id"])

    async def _typing(self, request: web.Request) -> None:
        self._open(request).typing += 1

    async def _acknowledge(self, request: web.Request) -> web.Response:
        number = request.match_info["id"]
        if number not in self._server.interactions or number in self.acknowledged:
            return answered(missing(10062).document, 404)
        assert (await request.json())["type"] == 6, "the message stays as it is"
        self.acknowledged.append(number)
        self._server.tell()
        return answered({"interaction": {"id": number, "type": 3, "response_message_loading": False}})
