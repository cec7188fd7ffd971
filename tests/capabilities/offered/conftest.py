"""A server with a scripted model, for conversations with agents and skills."""

from pathlib import Path

import pytest

from tests.modules.runtime.module_computer import ModuleServer
from tests.support.making import Make
from tests.support.server import Server


@pytest.fixture
def house(make_server: Make[Server]) -> ModuleServer:
    """A server with real agents: skills and helpers are theirs."""
    return make_server(ModuleServer, real_agents=True)


def write(path: Path, text: str, mode: int = 0o644) -> Path:
    """Write a file, as somebody would who copies one there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path
