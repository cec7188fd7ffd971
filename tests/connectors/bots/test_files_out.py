"""Files that an agent sends to its chat: out of its sandbox, once, and none that it should not."""

import json

import pytest

from tests.connectors.bots.talking import Bot
from tests.support.messages_api import several, text, tool_use
from tests.support.telegram_api import Written

pytestmark = [pytest.mark.long, pytest.mark.computer]

SEND = "mcp__parachute__send_file"
PICTURE = r"\211PNG\r\n\032\n"


def attached(bot: Bot, count: int = 1) -> list[Written]:
    """The files that the person's chat shows; waits for so many."""

    def found() -> list[Written]:
        return [each for each in bot.telegram.written if each.chat == bot.person and each.attached]

    bot.telegram.wait(lambda: len(found()) >= count, f"{count} files are there", bot.computer.logs)
    return found()


def settle(bot: Bot) -> None:
    """Wait until nothing is left to do in the chats."""

    def is_done() -> bool:
        state = bot.call("GET", "/api/bots/status")["connectors"]["telegram"]
        return (state["waiting_messages"], state["unsent"]) == (0, 0)

    bot.computer.wait_until(is_done, "nothing is left to do")


def answers(bot: Bot) -> list[dict[str, object]]:
    """Return the tools' answers in the newest request."""
    parts = [part for each in bot.model.conversation[-1].body["messages"] for part in each["content"]]
    return [part for part in parts if isinstance(part, dict) and part.get("type") == "tool_result"]


def test_files_of_the_workspace_arrive_and_nothing_of_them_stays(bot: Bot) -> None:
    bot.let_in(template="personal")
    make = f"printf '{PICTURE}' > drawing.png; mkdir -p out; printf 'a,b' > out/table.csv"
    bot.model.script(
        tool_use("Bash", {"command": make, "description": "x"}),
        tool_use(SEND, {"path": "out/table.csv", "caption": "The *table*."}),
        tool_use(SEND, {"path": "drawing.png"}),
        tool_use(SEND, {"path": "drawing.png"}),
        text("Both are there."),
    )
    bot.write("Send me the table and a drawing.")
    bot.wait_text("Both are there.")
    table, drawing = attached(bot, 2)
    assert (table.attached, table.name, table.content) == ("document", "table.csv", b"a,b")
    assert (drawing.attached, drawing.name, drawing.content) == ("photo", "drawing.png", b"\x89PNG\r\n\x1a\n")
    assert "The table." in bot.texts()
    settle(bot)
    assert len(attached(bot, 2)) == 2, "asked for twice in one answer, it was sent once"
    folder = bot.computer.home.run / "connector" / "telegram" / "files"
    bot.computer.wait_until(lambda: not list(folder.glob("out-*")), "no file is left")
    session = bot.session()
    (asked,) = [each for each in bot.model.conversation if "Send me the table" in str(each.body)][:1]
    assert "This conversation is a chat in Telegram" in json.dumps(asked.body["system"])
    calls = [part for each in session["messages"] for part in each["content"] if part.get("name") == SEND]
    assert [call["input"]["path"] for call in calls] == ["out/table.csv", "drawing.png", "drawing.png"]
    assert "on its way to the chat" in calls[0]["result"]

    def receipts() -> list[dict[str, object]]:
        found = bot.call("GET", f"/api/audit?session={session['id']}")["records"]
        return [each for each in found if "send_file" in str(each["target_endpoint"])]

    bot.computer.wait_until(lambda: len(receipts()) >= 5, "they have receipts")
    (sent,) = [each for each in receipts() if each["event_type"] == "bot" and "table.csv" in str(each["summary"])]
    assert sent["target_endpoint"] == f"send_file telegram {bot.person}"


def test_no_link_no_secret_nothing_hidden_nothing_outside_and_nothing_too_large(bot: Bot) -> None:
    bot.let_in(template="personal")
    make = (
        "ln -s /etc/passwd passwd.txt; ln -s /etc way; printf x > .hidden; "
        "mkfifo pipe; mkdir folder; truncate -s 60M film.bin"
    )
    paths = (
        *("passwd.txt", "way/hostname", ".hidden", ".git/config", "a.pem", "credentials.json", "pipe", "folder"),
        *("../../tmp/elsewhere", "/tmp/elsewhere", "/etc/passwd", "nothing", "", ".", "a\x00b", "/", "~/.ssh/id_rsa"),
        "film.bin",
    )
    bot.model.script(
        tool_use("Bash", {"command": make, "description": "x"}),
        several(
            *(tool_use(SEND, {"path": path}) for path in paths),
            tool_use(SEND, {"path": 7}),
            tool_use(SEND, {"path": "nothing", "caption": "x" * 2000}),
        ),
        text("None of it."),
    )
    bot.write("Send me everything.")
    bot.wait_text("None of it.")
    settle(bot)
    made, *found = answers(bot)
    assert not made.get("is_error"), made
    assert len(found) == len(paths) + 2
    for path, answer in zip((*paths, 7, "caption"), found, strict=True):
        assert answer["is_error"] is True, (path, answer)
    said = dict(zip(paths, map(json.dumps, found), strict=False))
    assert "no plain file" in said["passwd.txt"]
    assert "no plain file" in said["way/hostname"]
    assert "is hidden" in said[".hidden"]
    assert "more than 50 MB" in said["film.bin"]
    assert "not in your working directory" in said["/tmp/elsewhere"]
    assert not [each for each in bot.telegram.written if each.chat == bot.person and each.attached]


@pytest.mark.parametrize("template", ["guest", "family"])
def test_who_may_not_read_files_has_none_to_send(bot: Bot, template: str) -> None:
    bot.let_in(template=template)
    bot.model.script(tool_use(SEND, {"path": "/etc/passwd"}), text("Well."))
    before = len(bot.model.conversation)
    bot.write("Send me a file.")
    bot.wait_text("Well.")
    offered = {tool["name"] for tool in bot.model.conversation[before].body["tools"]}
    assert (SEND in offered) is (template == "family")
    (answer,) = answers(bot)
    assert answer["is_error"] is True


def test_a_conversation_of_no_chat_cannot_send(bot: Bot) -> None:
    bot.model.script(text("Hello."))
    before = len(bot.model.conversation)
    bot.command("chat", "Hello?")
    offered = {tool["name"] for each in bot.model.conversation[before:] for tool in each.body["tools"]}
    assert offered
    assert SEND not in offered


def test_one_that_the_platform_refuses_is_in_the_inbox_and_can_be_sent_again(bot: Bot) -> None:
    bot.let_in(template="personal")
    bot.telegram.fail("sendDocument", 400, "Bad Request: file is not wanted")
    bot.model.script(
        tool_use("Bash", {"command": "printf 'a,b' > table.csv", "description": "x"}),
        tool_use(SEND, {"path": "table.csv"}),
        text("Done."),
    )
    bot.write("The table!")
    bot.wait_text("Done.")

    def waiting() -> list[dict[str, object]]:
        found = bot.call("GET", "/api/bots/deliveries")["messages"]
        return [each for each in found if each["chat_id"] == str(bot.person)]

    (message,) = bot.computer.wait_until(waiting, "the owner sees it")
    assert message["text"] == "[table.csv]"
    bot.call("POST", f"/api/bots/deliveries/{message['id']}/retry")
    (sent,) = attached(bot)
    assert sent.content == b"a,b"
