"""A running Brain, and files as people write them."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from module import BrainModule

from parachute.core.testing import Running, run


@pytest.fixture
async def brain(tmp_path: Path) -> AsyncIterator[Running]:
    async with run(BrainModule, folder=tmp_path) as running:
        yield running


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """The vault of `brain`, also before it runs."""
    (tmp_path / "vault").mkdir(exist_ok=True)
    return tmp_path / "vault"


@pytest.fixture
def write(vault: Path) -> Callable[[str, str | bytes], str]:
    """Write an entity's file below Brain/entities, and give its path in the vault."""

    def written(name: str, content: str | bytes) -> str:
        path = vault / "Brain" / "entities" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path.relative_to(vault))

    return written


@pytest.fixture
def add(brain: Running) -> Callable[..., Any]:
    """Create an entity and give what was answered."""

    async def added(type_: str, name: str, content: str = "", **data: Any) -> dict[str, Any]:
        answer = await brain.post(
            "/entities", {"entity_type": type_, "data": {"name": name, **data}, "content": content}
        )
        assert answer.status == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    return added
