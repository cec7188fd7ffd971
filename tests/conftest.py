"""Fixtures that many tests share."""

import shutil
from collections.abc import Iterator

import pytest

from tests.support.computer import Computer
from tests.support.messages_api import MessagesAPI

needs_bubblewrap = pytest.mark.skipif(
    not shutil.which("bwrap"), reason="needs the system package bubblewrap: `make test-deps` installs it"
)


@pytest.fixture
def api() -> Iterator[MessagesAPI]:
    """A scripted model service."""
    with MessagesAPI() as service:
        yield service


@pytest.fixture
def computer(api: MessagesAPI) -> Iterator[Computer]:
    """A computer whose model is `api`."""
    environment = {"ANTHROPIC_API_KEY": "sk-ant-api03-real", "ANTHROPIC_BASE_URL": api.url}
    with Computer(environment=environment) as running:
        yield running
