"""The same in Discord: a file of the agent's arrives there once, within the limit of its servers."""

from typing import Any

import pytest

from parachute.base.files import atomic_write
from tests.connectors.bots.conftest import KEY
from tests.connectors.bots.talking import Bot
from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.discord_api import DiscordAPI
from tests.support.messages_api import Gate, MessagesAPI, hold, text, tool_use
from tests.support.telegram_api import TelegramApi

pytestmark = [pytest.mark.long, pytest.mark.computer]

SEND = "mcp__parachute__send_file"
MAKE = tool_use("Bash", {"command": "printf 'a,b' > table.csv; truncate -s 11M film.bin", "description": "x"})


def test_a_file_arrives_once_also_when_the_server_is_killed_behind_it() -> None:
    with DiscordAPI() as discord, TelegramApi() as nobody, MessagesAPI() as model:
        computer = ModuleComputer(environment={"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url})
        atomic_write(computer.home.root / "bots.yaml", f"discord:\n  enabled: true\n  server_url: {discord.url}\n")
        atomic_write(computer.home.root / "bot-tokens.json", f'{{"discord": "{discord.token}"}}')
        ann = discord.person("Ann")
        private = discord.private(ann)
        with computer:
            owner = Bot(computer, nobody, model)

            def state() -> dict[str, Any]:
                found: dict[str, Any] = owner.call("GET", "/api/bots/status")["connectors"]["discord"]
                return found

            computer.wait_until(lambda: state()["state"] == "connected", "the bot is there")
            discord.write(private, ann, "hello?")
            (request,) = computer.wait_until(owner.requests, "somebody asks to be let in")
            owner.call("POST", f"/api/bots/pairing/{request['id']}/approve", {"template": "personal"})
            gate = Gate()
            model.script(MAKE, tool_use(SEND, {"path": "film.bin"}), tool_use(SEND, {"path": "table.csv"}))
            model.script(hold(gate, text("Never said.")))
            discord.write(private, ann, "The table, please.")
            gate.wait_reached()
            model.script(MAKE, tool_use(SEND, {"path": "table.csv"}))
            model.default(text("There it is."))
            computer.kill_core()
            gate.open()
            discord.wait(lambda: "There it is." in discord.written(private), "it is answered", computer.logs)
            computer.wait_until(lambda: state()["unsent"] == 0, "nothing is left to do")
            sent = [each for message in discord.of_bot(private) for each in message["attachments"]]
            assert [(each["filename"], each["size"]) for each in sent] == [("table.csv", 3)]
            (chat,) = owner.call("GET", "/api/bots/chats")["chats"]
            said = str(owner.session(chat["session_id"])["messages"])
            assert "more than 10 MB" in said
            assert said.count("The table, please.") == 1
