"""The fake home server as tests use it: what people do, what breaks, and what the bot has written."""

import json
import time
from collections import Counter
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.support.messenger_api import MessengerAPI, Refusal

from .people import BOT, People
from .sync import has_news, messages, place_of, sync
from .world import DIRECT, TOKEN, World, Wrong

_ROOM = "/_matrix/client/v3/rooms/{room}"
_UPLOAD_BYTES = 30 * 1024 * 1024


class MatrixAPI(People, MessengerAPI):
    """The home server."""

    refusal = Wrong

    def __init__(self) -> None:
        super().__init__(TOKEN, self._routes())
        self.user = BOT
        self.world = World(self._wake)
        self.given: Counter[str] = Counter()
        """Number of times that each event was given out."""
        self.well_known: dict[str, Any] | None = None

    # What people do.

    def person(self, name: str) -> str:
        """Somebody with an account; their id."""
        user = f"@person{self.world.number()}:elsewhere.test"
        self.world.names[user] = name
        return user

    def direct(self, user: str, *, is_encrypted: bool = False) -> str:
        room = self._room(user, encrypted=is_encrypted)
        self.world.member(room, BOT, "invite", user, is_direct=True)
        return room

    def group(self, user: str, title: str = "Family", *others: str, is_encrypted: bool = False) -> str:
        room = self._room(user, title, encrypted=is_encrypted)
        for other in others:
            self.world.member(room, other, "join", other)
        self.world.member(room, BOT, "invite", user)
        return room

    def put(self, room: str, user: str, kind: str, content: dict[str, Any], state_key: str | None = None) -> str:
        return self.world.put(room, user, kind, content, **({} if state_key is None else {"state_key": state_key}))

    def redact(self, room: str, user: str, message: str) -> str:
        """Somebody takes a message back."""
        return self.world.redact(room, message, user)

    def come(self, room: str, user: str) -> None:
        """Somebody comes into a room."""
        self.world.member(room, user, "join", user)

    def put_out(self, room: str, by: str) -> None:
        """Somebody puts the bot out of a room."""
        self.world.member(room, BOT, "leave", by)

    def add_file(self, content: bytes, media_type: str = "application/octet-stream") -> str:
        """A file that somebody has uploaded; its address."""
        name = f"file{self.world.number()}"
        self.world.files[name] = (media_type, content)
        return f"mxc://elsewhere.test/{name}"

    # What is seen.

    def membership(self, room: str) -> str:
        return self.world.rooms[room].membership(BOT)

    def events(self, room: str) -> list[dict[str, Any]]:
        return [each.content for each in list(self.world.rooms[room].events)]

    # How it answers.

    def _room(self, user: str, title: str = "", *, encrypted: bool = False) -> str:
        room = f"!room{self.world.number()}:elsewhere.test"
        self.world.put(room, user, "m.room.create", {"room_version": "11"}, state_key="")
        self.world.member(room, user, "join", user)
        if title:
            self.world.put(room, user, "m.room.name", {"name": title}, state_key="")
        if encrypted:
            self.encrypt(room, user)
        return room

    def _routes(self) -> list[Route]:
        table = (
            ("GET", "/_matrix/client/v3/account/whoami", "whoami"),
            ("GET", "/_matrix/client/v3/sync", "sync"),
            ("POST", "/_matrix/client/v3/join/{room}", "join"),
            ("POST", f"{_ROOM}/leave", "leave"),
            ("GET", f"{_ROOM}/state/{{kind}}/", "state"),
            ("GET", f"{_ROOM}/members", "members"),
            ("GET", f"{_ROOM}/messages", "messages"),
            ("GET", f"{_ROOM}/event/{{event}}", "event"),
            ("PUT", f"{_ROOM}/send/{{kind}}/{{transaction}}", "send"),
            ("PUT", f"{_ROOM}/redact/{{event}}/{{transaction}}", "redact"),
            ("PUT", f"{_ROOM}/typing/{{user}}", "typing"),
            ("GET", "/_matrix/client/v3/user/{user}/account_data/{kind}", "account_data"),
            ("PUT", "/_matrix/client/v3/user/{user}/account_data/{kind}", "set_account_data"),
            ("GET", "/_matrix/client/v1/media/config", "config"),
            ("GET", "/_matrix/client/v1/media/download/{host}/{media}", "download"),
            ("POST", "/_matrix/media/v3/upload", "upload"),
            ("GET", "/.well-known/matrix/client", "elsewhere"),
        )
        return [Route(path, self._answering(name), methods=[method]) for method, path, name in table]

    def _answering(self, name: str) -> Any:
        async def carry_out(request: Request) -> Response:
            try:
                if name != "elsewhere" and request.headers.get("authorization") != f"Bearer {self.token}":
                    raise Wrong(401, "M_UNKNOWN_TOKEN", "Unknown access token", soft_logout=False)
                answer = await self._carry_out(name, str(request.url), lambda: getattr(self, f"_{name}")(request))
            except Refusal as refusal:
                return JSONResponse(refusal.document, refusal.status)
            if isinstance(answer, Response):
                return answer
            # In ASCII, so that halves of characters go through, too.
            return Response(json.dumps(answer), media_type="application/json")

        return carry_out

    async def _whoami(self, request: Request) -> dict[str, Any]:
        return {"user_id": self.user, "device_id": "DEVICE"}

    async def _sync(self, request: Request) -> dict[str, Any]:
        chosen = json.loads(request.query_params.get("filter", "{}"))
        since = place_of(request.query_params["since"]) if "since" in request.query_params else 0
        end = time.monotonic() + int(request.query_params.get("timeout", "0")) / 1000
        while since and time.monotonic() < end and not self._server.should_exit:
            self._changed.clear()
            if has_news(self.world, since, chosen):
                break
            if self.token == "none":
                raise Wrong(401, "M_UNKNOWN_TOKEN", "Unknown access token", soft_logout=False)
            await self._wait_for_news()
        answer = sync(self.world, since, chosen)
        for room in answer["rooms"]["join"].values():
            self.given.update(each["event_id"] for each in room["timeline"]["events"])
        return answer

    async def _join(self, request: Request) -> dict[str, Any]:
        room = request.path_params["room"]
        found = self.world.rooms.get(room)
        if found is None or found.membership(BOT) not in ("invite", "join"):
            raise Wrong(403, "M_FORBIDDEN", "You are not invited to this room.")
        if found.membership(BOT) == "invite":
            self.world.member(room, BOT, "join", BOT)
        return {"room_id": room}

    async def _leave(self, request: Request) -> dict[str, Any]:
        self.world.member(request.path_params["room"], BOT, "leave", BOT)
        return {}

    async def _state(self, request: Request) -> dict[str, Any]:
        room = self.world.joined(request.path_params["room"])
        found = room.state.get((request.path_params["kind"], ""))
        if found is None:
            raise Wrong(404, "M_NOT_FOUND", "Event not found.")
        content: dict[str, Any] = found.content["content"]
        return content

    async def _members(self, request: Request) -> dict[str, Any]:
        room = self.world.joined(request.path_params["room"])
        unwanted = request.query_params.get("not_membership")
        chunk = [
            each.content
            for (kind, _), each in room.state.items()
            if kind == "m.room.member" and each.content["content"]["membership"] != unwanted
        ]
        return {"chunk": chunk}

    async def _messages(self, request: Request) -> dict[str, Any]:
        return messages(self.world.joined(request.path_params["room"]), dict(request.query_params))

    async def _event(self, request: Request) -> dict[str, Any]:
        return self.world.joined(request.path_params["room"]).event(request.path_params["event"]).content

    async def _send(self, request: Request) -> dict[str, Any]:
        path = request.path_params
        return {"event_id": self.world.send(path["room"], path["kind"], path["transaction"], await request.json())}

    async def _redact(self, request: Request) -> dict[str, Any]:
        return {"event_id": self.world.redact(request.path_params["room"], request.path_params["event"], BOT)}

    async def _typing(self, request: Request) -> dict[str, Any]:
        said = await request.json()
        self.world.joined(request.path_params["room"]).typing.append(said["typing"])
        return {}

    async def _account_data(self, request: Request) -> dict[str, Any]:
        if request.path_params["kind"] != DIRECT or self.world.direct is None:
            raise Wrong(404, "M_NOT_FOUND", "Account data not found")
        return dict(self.world.direct)

    async def _set_account_data(self, request: Request) -> dict[str, Any]:
        self.world.set_direct(await request.json())
        return {}

    async def _config(self, request: Request) -> dict[str, Any]:
        return {"m.upload.size": _UPLOAD_BYTES}

    async def _upload(self, request: Request) -> dict[str, Any]:
        content = await request.body()
        if len(content) > _UPLOAD_BYTES:
            raise Wrong(413, "M_TOO_LARGE", "Too large")
        name = f"upload{self.world.number()}"
        self.world.files[name] = (request.headers["content-type"], content)
        return {"content_uri": f"mxc://home.test/{name}"}

    async def _download(self, request: Request) -> Response:
        found = self.world.files.get(request.path_params["media"])
        if found is None:
            raise Wrong(404, "M_NOT_FOUND", "Not found")
        return Response(found[1], media_type=found[0])

    async def _elsewhere(self, request: Request) -> dict[str, Any]:
        if self.well_known is None:
            raise Wrong(404, "M_UNRECOGNIZED")
        return self.well_known
