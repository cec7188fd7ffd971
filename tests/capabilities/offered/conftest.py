"""A server with a scripted model, for conversations with agents and skills."""

from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import pytest

from tests.modules.runtime.module_computer import ModuleServer
from tests.support.messages_api import MessagesAPI


@pytest.fixture(scope="session")
def service() -> Iterator[MessagesAPI]:
    """The model of all tests here."""
    with MessagesAPI() as running:
        yield running


@pytest.fixture(scope="session")
def house(service: MessagesAPI) -> Iterator[ModuleServer]:
    """The server, with real agents: skills and helpers are theirs."""
    with ModuleServer(environment=service.credentials, real_agents=True) as running:
        yield running


@pytest.fixture
def api(service: MessagesAPI, house: ModuleServer) -> Iterator[MessagesAPI]:
    """The model without what the test before left, and a vault without its agents and skills."""
    for folder in (".claude/agents", ".claude/skills", ".skills", "Projects"):
        rmtree(house.vault / folder, ignore_errors=True)
    service.forget_script()
    yield service
    service.forget_script()


def write(path: Path, text: str, mode: int = 0o644) -> Path:
    """Write a file, as somebody would who copies one there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path
