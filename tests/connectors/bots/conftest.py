"""A whole computer with a bot: real supervisor, core, connector and agent; the platform and the model are scripted."""

import contextlib
from collections.abc import Iterator

import pytest

from parachute.base.files import atomic_write
from tests.connectors.bots.talking import Bot
from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI
from tests.support.telegram_api import TOKEN, TelegramApi

KEY = "sk-ant-api03-real"


@contextlib.contextmanager
def running() -> Iterator[Bot]:
    """A computer with a bot that is switched on."""
    with TelegramApi() as telegram, MessagesAPI() as model:
        computer = Computer(environment={"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url})
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
    _shared.model.forget_script()
    yield _shared.anew()
    _shared.model.forget_script()
    _shared.forget_requests()
