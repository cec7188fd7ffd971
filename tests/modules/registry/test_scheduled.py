"""Agents that work once a day, in the question before a module is installed."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from parachute.modules.registry.check import ModuleInvalid, check_folder
from parachute.modules.registry.models import InstalledModule
from parachute.modules.registry.service import Modules
from tests.support.errors import raises

from .building import everything, write_module
from .steps import install

PAGE = """\
---
displayName: Reflection
description: Looks back at the day
schedule:
  time: "04:00"
output: Hello/{date}.md
---
Look back.
"""
WRITING = "permissions:\n  write:\n    - Hello/**\n"
SAID = "Runs by itself each day at 04:00: Reflection — “Looks back at the day”"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_module(tmp_path / "source", more=WRITING, files={"agents/reflection.md": PAGE})


def test_the_user_sees_what_will_run_by_itself(modules: Modules, source: Path) -> None:
    with modules.installing(str(source)) as installation:
        question = installation.question
        assert f"  {SAID}" in question.as_text().splitlines()
        assert question.permissions()["scheduled"] == [
            {
                "name": "reflection",
                "display_name": "Reflection",
                "description": "Looks back at the day",
                "time": "04:00",
                "by_itself": True,
                "output": "Hello/{date}.md",
                "tools": ["Read", "Glob", "Grep"],
                "model": "",
                "can_suggest": [],
            }
        ]
        installation.finish()
    stored = modules.registry.module("hello").permissions
    assert stored is not None
    assert stored["scheduled"][0]["name"] == "reflection"


def test_an_edit_that_makes_an_agent_run_by_itself_is_a_change_of_rights(modules: Modules, source: Path) -> None:
    (source / "agents/reflection.md").write_text(PAGE.replace("schedule:\n", "schedule:\n  enabled: false\n"))
    install(modules, source)
    path = modules.places.source("hello") / "agents/reflection.md"
    path.write_text(PAGE.replace("description", "tools: [Read, Bash]\ndescription"))
    difference, problem = modules.permission_changes("hello")
    assert problem is None
    assert difference is not None
    assert difference.added == (f"Agent file reflection: {SAID}", "Agent file reflection: Tools: Read, Bash")
    with modules.approving("hello") as installation:
        assert f"+ Agent file reflection: {SAID}" in installation.question.as_text()


def test_what_was_approved_before_agents_were_asked_about_is_asked_about_now(modules: Modules, source: Path) -> None:
    install(modules, source)

    def as_it_was_stored(module: InstalledModule) -> InstalledModule:
        assert module.permissions is not None
        return replace(
            module, permissions={key: what for key, what in module.permissions.items() if key != "scheduled"}
        )

    modules.registry.replace("hello", as_it_was_stored)
    with modules.approving("hello") as installation:
        assert f"+ Agent file reflection: {SAID}" in installation.question.as_text()


def test_an_untrusted_module_has_no_such_agents(modules: Modules, source: Path) -> None:
    with modules.installing(str(source), untrusted=True) as installation:
        assert installation.asked.scheduled == ()
        assert any("scheduled agents" in line for line in installation.asked.without_effect)


@pytest.mark.parametrize("dev", [False, True])
def test_a_broken_file_keeps_the_module_out(modules: Modules, source: Path, vault: Path, dev: bool) -> None:
    (source / "agents/reflection.md").write_text(PAGE.replace("04:00", "four"))
    said = "agents/reflection.md, line 5: schedule.time: 'four' is no time of the day"
    (problem,) = check_folder(source).problems
    assert said in problem
    before = everything(vault)
    with raises("module_invalid", names="line 5: schedule"), modules.installing(str(source), dev=dev):
        raise AssertionError("It was staged.")
    assert everything(vault) == before
    assert modules.list() == []


def test_a_broken_file_in_the_vault_cannot_be_approved(modules: Modules, source: Path) -> None:
    install(modules, source)
    (modules.places.source("hello") / "agents/reflection.md").write_text(PAGE.replace("Hello/", "Other/"))
    difference, problem = modules.permission_changes("hello")
    assert difference is None
    assert "agents/reflection.md, line 6: output: Other/{date}.md is not within" in (problem or "")
    with pytest.raises(ModuleInvalid), modules.approving("hello"):
        raise AssertionError("It was staged.")
