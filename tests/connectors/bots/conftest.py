"""A whole computer with a bot: real supervisor, core, connector and agent; the platform and the model are scripted."""

import contextlib
from collections.abc import Iterator

import pytest

from parachute.base.files import atomic_write
from tests.automation.transcription.scripted_server import SAID, ScriptedServer, scripted_server
from tests.connectors.bots.talking import Bot
from tests.modules.runtime.module_computer import ModuleComputer
from tests.support.messages_api import MessagesAPI
from tests.support.telegram_api import TOKEN, TelegramApi

KEY = "sk-ant-api03-real"


@contextlib.contextmanager
def running() -> Iterator[Bot]:
    """A computer with a bot that is switched on."""
    with TelegramApi() as telegram, MessagesAPI() as model:
        computer = ModuleComputer(environment=model.credentials)
        atomic_write(computer.home.root / "bots.yaml", f"telegram:\n  enabled: true\n  server_url: {telegram.url}\n")
        atomic_write(computer.home.root / "bot-tokens.json", f'{{"telegram": "{TOKEN}"}}')
        with computer:
            yield Bot(computer, telegram, model)


@pytest.fixture(scope="package")
def _shared() -> Iterator[Bot]:
    with running() as found:
        yield found


@pytest.fixture
def own_bot() -> Iterator[Bot]:
    """A bot whose server may be killed: the supervisor starts one only so often in a minute."""
    with running() as found:
        yield found


@pytest.fixture
def bot(_shared: Bot) -> Iterator[Bot]:
    """The bot, in a chat that no other test uses."""
    with _shared.model.lent():
        yield _shared.anew()
    _shared.forget_requests()


@pytest.fixture(scope="package")
def _transcriber() -> Iterator[ScriptedServer]:
    with scripted_server() as found:
        yield found


@pytest.fixture
def transcriber(_transcriber: ScriptedServer, bot: Bot) -> Iterator[ScriptedServer]:
    """The owner's server, which transcribes for the bot's computer."""
    with transcribing(_transcriber, bot):
        yield _transcriber


@contextlib.contextmanager
def transcribing(server: ScriptedServer, bot: Bot) -> Iterator[None]:
    """Have a server transcribe for a bot's computer."""
    server.asked.clear()
    server.answers[:] = [(200, SAID)]
    server.free.set()
    bot.command("config", "set", "voice.server", server.url)
    yield
    server.free.set()
    bot.command("config", "unset", "voice.server")
