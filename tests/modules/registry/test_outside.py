"""Folders outside of the vault that were agreed to and that the settings do not give."""

from pathlib import Path

import pytest

from parachute.config.settings.home import Home
from parachute.modules.registry.service import Modules

from .building import write_module
from .steps import install

AGENTS = """
agents:
  responder: {paths: [Brain/projects/client-x.md, ~/Work/client-x/], capabilities: [read]}
  other: {paths: [~/Projects/mine/, "~/Work/client-x/"], capabilities: [read]}
"""


@pytest.mark.parametrize(("folders", "expected"), [(["Projects"], 1), (["Projects", "Work"], 0)])
def test_a_folder_that_is_agreed_to_and_not_given_is_named_with_the_command(
    home: Home, vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: list[str], expected: int
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    modules = Modules(home, vault, projects=[tmp_path / name for name in folders])
    install(modules, write_module(tmp_path / "source", more=AGENTS))
    found = modules.status("hello").not_given
    assert len(found) == expected
    for sentence in found:
        assert sentence.startswith("~/Work/client-x/ is not given to responder, other")
        assert "parachute config set project_folders" in sentence
        assert str(tmp_path / "Work") in sentence
