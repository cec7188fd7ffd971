"""Answers of the fake home server to `/sync` and `/messages`: events between two places of the stream, by filters."""

import json
from typing import Any

from .people import BOT
from .world import DIRECT, Event, Room, World, Wrong

_STRIPPED = ("m.room.create", "m.room.name", "m.room.encryption", "m.room.join_rules")


def place_of(token: str) -> int:
    """The place that a token stands for."""
    if not token.startswith("s") or not token[1:].isdecimal():
        raise Wrong(400, "M_INVALID_PARAM", "Invalid stream token")
    return int(token[1:])


def sync(world: World, since: int, chosen: dict[str, Any]) -> dict[str, Any]:
    """Everything behind a place, 0 for the beginning."""
    answer: dict[str, Any] = {"next_batch": f"s{world.place}", "rooms": {"join": {}, "invite": {}, "leave": {}}}
    for room in list(world.rooms.values()):
        membership = room.state.get(("m.room.member", BOT))
        if membership is None:
            continue
        is_new = membership.place > since
        match room.membership(BOT):
            case "join":
                if found := _joined(room, since, chosen.get("room", {})):
                    answer["rooms"]["join"][room.id] = found
            case "invite" if is_new:
                stripped = [room.state[key] for key in room.state if key[0] in _STRIPPED]
                events = [_stripped(each) for each in (*stripped, membership)]
                answer["rooms"]["invite"][room.id] = {"invite_state": {"events": events}}
            case "leave" | "ban" if is_new and since:
                timeline = {"events": [_shown(membership)], "limited": False, "prev_batch": f"s{since}"}
                answer["rooms"]["leave"][room.id] = {"state": {"events": []}, "timeline": timeline}
    if world.direct is not None and world.direct_place > since:
        answer["account_data"] = {"events": [{"type": DIRECT, "content": world.direct}]}
    return answer


def has_news(world: World, since: int, chosen: dict[str, Any]) -> bool:
    """Return whether there is something to answer."""
    answer = sync(world, since, chosen)
    return bool(answer.get("account_data") or any(answer["rooms"].values()))


def messages(room: Room, query: dict[str, str]) -> dict[str, Any]:
    """A page of a room's history."""
    begin = place_of(query["from"])
    end = place_of(query["to"]) if "to" in query else None
    chosen = json.loads(query.get("filter", "{}"))
    is_forward = query.get("dir") == "f"
    limit = int(query.get("limit", "10"))
    if is_forward:
        found = [each for each in room.events if begin < each.place and (end is None or each.place <= end)]
    else:
        found = [each for each in reversed(room.events) if each.place <= begin and (end is None or each.place > end)]
    found = [each for each in found if _is_chosen(each, chosen)]
    page = found[:limit]
    answer: dict[str, Any] = {"chunk": [_shown(each) for each in page], "start": query["from"]}
    if len(found) > limit:
        last = page[-1].place
        answer["end"] = f"s{last if is_forward else last - 1}"
    if chosen.get("lazy_load_members"):
        answer["state"] = _members(room, page)
    return answer


def _joined(room: Room, since: int, chosen: dict[str, Any]) -> dict[str, Any] | None:
    about = chosen.get("timeline", {})
    limit = int(about.get("limit", 10))
    happened = [each for each in room.events if each.place > since and _is_chosen(each, about)]
    is_new = room.state[("m.room.member", BOT)].place > since
    if is_new:
        # Also what was before, as far as the room shows it to who comes.
        happened = [each for each in room.events if _is_chosen(each, about)]
    if not happened and not is_new:
        return None
    timeline = happened[-limit:] if limit else []
    is_limited = len(happened) > limit
    begins = timeline[0].place - 1 if timeline else since
    state = _members(room, timeline)
    if is_new:
        types = chosen.get("state", {}).get("types")
        state = [
            _shown(each)
            for (kind, _), each in room.state.items()
            if each.place <= begins and (types is None or kind in types)
        ]
    return {
        "timeline": {
            "events": [_shown(each) for each in timeline],
            "limited": is_limited,
            "prev_batch": f"s{begins}",
        },
        "state": {"events": state},
    }


def _members(room: Room, events: list[Event]) -> list[dict[str, Any]]:
    senders = dict.fromkeys(each.content["sender"] for each in events)
    found = (room.state.get(("m.room.member", sender)) for sender in senders)
    return [_shown(each) for each in found if each is not None]


def _is_chosen(event: Event, about: dict[str, Any]) -> bool:
    types, senders = about.get("types"), about.get("senders")
    return (types is None or event.content["type"] in types) and (senders is None or event.content["sender"] in senders)


def _shown(event: Event) -> dict[str, Any]:
    return {name: value for name, value in event.content.items() if name != "room_id"}


def _stripped(event: Event) -> dict[str, Any]:
    return {name: event.content[name] for name in ("type", "state_key", "sender", "content")}
