"""`parachute bots`: messengers through which you and those that you let in talk to this computer."""

import sys
from typing import Any

import typer

from parachute.cli.api import Api, quoted
from parachute.cli.asking import secret
from parachute.cli.commands import JSON, group
from parachute.cli.output import clean, local, print_answer, print_json, print_note, print_rows, print_table

_PLATFORM = typer.Argument(
    metavar="PLATFORM", help="A messenger, such as telegram; `parachute bots status` lists them."
)
_CHAT = typer.Argument(metavar="CHAT", help="Id of a chat, as `parachute bots chats` shows it.")
_ADDRESS = typer.Argument(metavar="ADDRESS", help="Such as https://matrix.example.org; '' for the platform's own.")
_REQUEST = typer.Argument(metavar="CODE", help="The code that the sender received, or the id of the request.")
_SECRET_LIMIT = 64 * 1024
_NAMES = {"dm": "private", "group": "group"}


def status(as_json: bool = JSON) -> None:
    """Show which bots run, and what keeps the others from it."""
    api = Api.find()
    found = api.get("/api/bots/status")
    waiting = api.get("/api/bots/pairing/count")["pending"]
    undelivered = api.get("/api/bots/deliveries")["messages"]
    if as_json:
        print_json({**found, "pending": waiting, "undelivered": undelivered})
        return
    print_table(
        ["Platform", "Bot", "State", "Token", "Waiting", "Unsent", "Undelivered"],
        [
            (
                *(name, each["bot_name"] or "", each["state"], "kept" if each["has_token"] else "none"),
                *(str(each["waiting_messages"]), str(each["unsent"]), str(each["undelivered"])),
            )
            for name, each in found["connectors"].items()
        ],
    )
    for name, each in found["connectors"].items():
        if each["reason"]:
            print_note(f"{name}: {each['reason']}")
    for each in undelivered[:10]:
        print_note(clean(f"Not delivered to {each['chat_id']} on {each['platform']}: {each['problem']}"))
    if undelivered:
        print_note("`parachute inbox` lets you try again, or give it up.")
    if waiting:
        print_note("A new person wants to talk to a bot: `parachute bots pairing list`.")


def set_token(platform: str = _PLATFORM, as_json: bool = JSON) -> None:
    """Keep the token of a bot, asked for without being shown, or read from standard input."""
    token = secret("Token") if sys.stdin.isatty() else sys.stdin.read(_SECRET_LIMIT)
    made = Api.find().put(f"/api/bots/{quoted(platform)}/token", {"token": token.strip()})
    print_answer(made, as_json, f"The token is kept. `parachute bots start {platform}` starts the bot.")


def remove_token(platform: str = _PLATFORM, as_json: bool = JSON) -> None:
    """Forget the token of a bot, which stops it."""
    said = Api.find().delete(f"/api/bots/{quoted(platform)}/token")
    print_answer(said, as_json, f"The bot of {platform} is stopped, and its token removed.")


def set_server(platform: str = _PLATFORM, address: str = _ADDRESS, as_json: bool = JSON) -> None:
    """Keep the address of the server at which a bot has its account: for Matrix always, for others one of your own."""
    api = Api.find()
    bot = api.get("/api/bots/config").get(platform, {})
    field = "homeserver_url" if "homeserver_url" in bot else "server_url"
    api.put("/api/bots/config", {platform: {field: address}})
    print_answer({"platform": platform, field: address}, as_json, f"The address is kept for the bot of {platform}.")


def start(platform: str = _PLATFORM, as_json: bool = JSON) -> None:
    """Have a bot run, from now on and after a restart."""
    said = Api.find().post(f"/api/bots/{quoted(platform)}/start")
    print_answer(
        said, as_json, f"The bot of {platform} is started. `parachute bots status` shows whether it is connected."
    )


def stop(platform: str = _PLATFORM, as_json: bool = JSON) -> None:
    """Have a bot run no longer; what is written to it waits with the platform."""
    said = Api.find().post(f"/api/bots/{quoted(platform)}/stop")
    print_answer(said, as_json, f"The bot of {platform} is stopped.")


def _test(platform: str = _PLATFORM, as_json: bool = JSON) -> None:
    """Ask the platform who the bot is, with the token that is kept."""
    said = Api.find().post(f"/api/bots/{quoted(platform)}/test")
    print_answer(said, as_json, f"The token is that of {clean(str(said['bot_name']))}.")


def chats(as_json: bool = JSON) -> None:
    """List the chats that may talk to a bot."""
    print_rows(
        Api.find().get("/api/bots/chats")["chats"],
        as_json,
        ["Platform", "Chat", "Kind", "Called", "May use", "Yours", "Let in"],
        lambda each: (
            *(each["platform"], each["chat_id"], _NAMES[each["chat_type"]], each["title"], each["template"]),
            *("yes" if each["is_owner"] else "", local(each["approved_at"])),
        ),
        "No chat may talk to a bot.",
    )


def unlink(platform: str = _PLATFORM, chat: str = _CHAT, as_json: bool = JSON) -> None:
    """Let a chat in no longer; its conversation stays."""
    said = Api.find().delete(f"/api/bots/chats/{quoted(platform)}/{quoted(chat)}")
    print_answer(said, as_json, f"The chat {chat} is let in no longer.")


def owner(platform: str = _PLATFORM, as_json: bool = JSON) -> None:
    """Show a code that makes a private chat your own: what bots' conversations ask is asked there."""
    made = Api.find().post(f"/api/bots/{quoted(platform)}/owner-code")
    sentence = f"Send this to your bot within ten minutes, in your own chat: {made['command']}"
    print_answer(made, as_json, sentence)


def _list(as_json: bool = JSON) -> None:
    """List people and groups that want to talk to a bot."""
    print_rows(
        Api.find().get("/api/bots/pairing")["requests"],
        as_json,
        ["Code", "Platform", "User", "Calls itself", "Kind", "Id", "Since"],
        lambda each: (
            *(each["code"] or "", each["platform"], each["user_id"], each["name"] or each["title"]),
            *(_NAMES[each["chat_type"]], each["id"], local(each["since"])),
        ),
        "No pairing request is waiting.",
    )


def _approve(
    request: str = _REQUEST,
    template: str = typer.Option(
        "", "--template", help="What it may use: guest, family, project or personal.", show_default=False
    ),
    all_messages: bool = typer.Option(False, "--all-messages", help="In a group, answer every message."),
    as_json: bool = JSON,
) -> None:
    """Let somebody in: compare the code with the one that they were told."""
    waiting = Api.find().get("/api/bots/pairing")["requests"]
    body: dict[str, Any] = {"template": template} if template else {}
    if any(each["chat_type"] == "group" for each in waiting if request == each["id"]):
        body["response_mode"] = "all_messages" if all_messages else "mention_only"
    said = Api.find().post(f"/api/bots/pairing/{quoted(request)}/approve", body)
    print_answer(
        said,
        as_json,
        f"{clean(said['chat']['title'] or said['chat']['chat_id'])} may talk to your bot now and is notified.",
    )


def _deny(request: str = _REQUEST, as_json: bool = JSON) -> None:
    """Let somebody not in; they are asked about no more today."""
    said = Api.find().post(f"/api/bots/pairing/{quoted(request)}/deny")
    print_answer(said, as_json, "The request is refused.")


app = group(status, set_token, remove_token, set_server, start, stop, _test, chats, unlink, owner)
_pairing = group(_list, _approve, _deny)
app.add_typer(_pairing, name="pairing", help="Let people and groups in that want to talk to a bot, or not.")
