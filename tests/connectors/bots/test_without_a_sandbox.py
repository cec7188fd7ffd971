"""Strangers get a sentence and no agent where no sandbox works."""

import os
from pathlib import Path

import pytest

from parachute.base.files import atomic_write
from tests.attacks.test_without_a_sandbox import BROKEN
from tests.connectors.bots.talking import Bot
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI, text
from tests.support.telegram_api import TOKEN, TelegramApi

pytestmark = [pytest.mark.long, pytest.mark.computer]


def test_a_stranger_is_refused_politely_and_nothing_runs(tmp_path: Path) -> None:
    with TelegramApi() as telegram, MessagesAPI() as model:
        environment = model.credentials
        environment["PATH"] = f"{tmp_path}:{os.environ['PATH']}"
        # The owner may go without; others never may.
        settings = {"sandbox": {"engine": "podman", "required": False}}
        (tmp_path / "podman").write_text(BROKEN)
        (tmp_path / "podman").chmod(0o755)
        computer = Computer(settings=settings, environment=environment)
        atomic_write(computer.home.root / "bots.yaml", f"telegram:\n  enabled: true\n  server_url: {telegram.url}\n")
        atomic_write(computer.home.root / "bot-tokens.json", f'{{"telegram": "{TOKEN}"}}')
        with computer:
            bot = Bot(computer, telegram, model)
            bot.let_in(template="personal")
            model.default(text("Done."))
            bot.write("touch /tmp/escaped")
            bot.wait_text("no safe place")
            assert not model.conversation
