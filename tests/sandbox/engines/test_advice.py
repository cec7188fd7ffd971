"""Advice about a folder in which agents may not work never opens the disk, the home or the system."""

import shlex
from pathlib import Path

import pytest
import yaml

from parachute.base.errors import InvalidInput
from parachute.sandbox.engines.advice import advice
from tests.sandbox.engines.conftest import SandboxFactory

pytestmark = pytest.mark.process


def test_nothing_large_is_proposed() -> None:
    for folder in (
        "/etc",
        "/etc/ssl",
        "/usr/share/doc",
        "/srv",
        "~",
        "~/garden",
        "~/.config/x",
        "/home/ada",
        "/home/ada/x",
        "/",
    ):
        said = advice(Path(folder).expanduser(), [Path("/data/Projects")])
        assert said == "Put the project below /data/Projects.", folder


@pytest.mark.parametrize("name", ["Work/garden", "My Work, all/garden", "it's/garden"])
def test_the_command_keeps_what_is_set(name: str) -> None:
    folder = Path.home() / name
    command = advice(folder, [Path("/data/Projects")]).split("`")[1]
    *words, value = shlex.split(command)
    assert words == ["parachute", "config", "set", "project_folders"]
    assert yaml.safe_load(value) == ["/data/Projects", str(folder.parent)]


async def test_first_of_all_it_is_said_that_there_is_none(sandboxes: SandboxFactory) -> None:
    with pytest.raises(InvalidInput) as refusal:
        sandboxes.service.check_directory(Path("/srv/none/garden"))
    assert refusal.value.key == "no_such_folder"
    with pytest.raises(InvalidInput) as refusal:
        sandboxes.service.check_directory(Path("/etc"))
    assert refusal.value.key == "not_a_project"
    assert "config set" not in (refusal.value.hint or "")
