"""A server that reaches a push service, and browsers that are signed in there."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.connectors.push.push_service import PushService, Subscriber, ToldServer
from tests.support.browser import Browser
from tests.support.making import Make
from tests.support.messages_api import MessagesAPI
from tests.support.server import Server

MakeBrowser = Callable[..., Browser]


@pytest.fixture
def api() -> Iterator[MessagesAPI]:
    """A scripted model service: no messenger's."""
    with MessagesAPI() as made:
        yield made


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PushService]:
    """A push service that this machine trusts."""
    made = PushService(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.certificate))
    yield made
    made.close()


@pytest.fixture
def make_told_server(make_server: Make[Server], service: PushService) -> Callable[..., ToldServer]:
    """Start servers that reach the push service."""

    class _Told(ToldServer):
        pass

    _Told.service = service
    return lambda **settings: make_server(_Told, **settings)


@pytest.fixture
def server(make_told_server: Callable[..., ToldServer]) -> ToldServer:
    """A server that reaches the push service; its time stands still at noon."""
    return make_told_server()


@pytest.fixture
def make_browser(server: ToldServer) -> Iterator[MakeBrowser]:
    """Browsers that are signed in."""
    with ExitStack() as open_:

        def make(**asked: Any) -> Browser:
            browser = open_.enter_context(Browser(server))
            browser.sign_in(**asked)
            return browser

        yield make


def subscribe(browser: Browser, subscriber: Subscriber) -> dict[str, Any]:
    """Have a browser told."""
    answer = browser.ask("PUT", "/api/push/subscription", subscriber.body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found
