"""A person's home with a vault, the state directory and a few secrets, and policies for it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from parachute.security.permissions.policy import Policy

Effect = Callable[[str], str]
"""Answer of a session to a command line."""


@dataclass(frozen=True)
class World:
    """The folders of one test."""

    user_home: Path

    @property
    def vault(self) -> Path:
        return self.user_home / "Parachute"

    @property
    def home(self) -> Path:
        return self.user_home / ".parachute"

    def policy(self, level: str = "direct", **fields: object) -> Policy:
        """A policy of this world, direct with trust mode unless said otherwise."""
        settings: dict[str, object] = {
            "vault": self.vault,
            "home": self.home,
            "working_directory": self.vault,
            "trust_mode": True,
            "user_home": self.user_home,
        }
        return Policy(level, **{**settings, **fields})  # type: ignore[arg-type]


def build_world(root: Path) -> World:
    """Create the folders and files."""
    world = World(root.resolve() / "ada")
    for folder in (world.home, world.vault / ".parachute", world.vault / "Daily", world.vault / "Projects" / "boat"):
        folder.mkdir(parents=True)
    (world.user_home / "Parachute-other").mkdir()
    for secret in (world.vault / ".env", world.vault / "credentials.json", world.home / "keys.yaml"):
        secret.write_text("SECRET")
    for plain in ("notes.md", "Daily/today.md", "Projects/boat/plan.md", ".env.example"):
        (world.vault / plain).write_text("plain")
    return world


@pytest.fixture
def world(tmp_path: Path) -> World:
    return build_world(tmp_path)


@pytest.fixture(scope="module")
def shared_world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One world for many examples of a property."""
    return build_world(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def effect(world: World) -> Effect:
    """Return the answer of a direct session with trust mode to a command line."""
    policy = world.policy()

    def decided(line: str) -> str:
        decision = policy.decide("Bash", {"command": line})
        assert decision.rule != "failure"
        return decision.effect.value

    return decided
