"""Hooks in a folder of trust of their own."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from parachute.config.settings.home import Home
from parachute.events.hooks.models import HookOutcome
from parachute.events.hooks.service import Hooks
from parachute.security.audit.service import Audit

SECONDS = 120


class Place:
    """A home, a vault, and the hooks in them."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / ".parachute")
        self.home.root.mkdir(mode=0o700)
        self.folder = self.home.root / "hooks"
        self.folder.mkdir()
        self.vault = folder / "Parachute"
        (self.vault / ".parachute").mkdir(parents=True)
        self.audit = Audit(folder / "audit")
        self.hooks = Hooks(self.home, self.vault, self.audit)

    def write(self, **events: Any) -> None:
        """Write hooks.yaml; `__` in a name stands for a dot, and a text for a command."""
        hooks = {
            event.replace("__", "."): [
                {"type": "command", "command": entry} if isinstance(entry, str) else {"type": "command", **entry}
                for entry in (entries if isinstance(entries, list) else [entries])
            ]
            for event, entries in events.items()
        }
        (self.home.root / "hooks.yaml").write_text(yaml.safe_dump({"hooks": hooks}))

    def script(self, name: str, text: str, folder: Path | None = None) -> Path:
        """Write an executable script."""
        path = (folder or self.folder) / name
        path.write_text(text)
        path.chmod(0o700)
        return path

    async def approve(self) -> None:
        """Approve all hooks as they are now."""
        await self.hooks.approve(await self.hooks.list())

    async def fire(self, event: str = "session.start", **data: Any) -> HookOutcome:
        """Fire an event."""
        return await asyncio.wait_for(self.hooks.fire(event, data), SECONDS)

    def messages(self) -> list[str]:
        """Return the errors, newest first."""
        return [each.message for each in self.hooks.errors()]


def said(path: Path) -> dict[str, Any]:
    """Return the input of a hook, which it wrote to a file."""
    told: dict[str, Any] = json.loads(path.read_text())
    return told


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    """See Place."""
    made = Place(tmp_path)
    yield made
    await made.hooks.close()
    await made.audit.close()
