"""The layout is the only list of a sandbox's places, and everything follows it."""

import ast
import re
from pathlib import Path

import pytest
from parachute_runner.runner import _PASSED_ON

from parachute.chat.prompts.service import Prompts
from parachute.config.vault.service import Vault
from parachute.sandbox import layout
from parachute.sandbox.engines.execution import Execution

PRODUCT = Path(layout.__file__).parents[1]
OWN = re.compile(
    r"(/scratch|/cache|/plugins|/attachments|/project|/outside|/run/parachute|/opt/parachute/(parachute_runner|agent))(/|$)"
)


@pytest.mark.long
def test_no_other_file_names_a_place() -> None:
    found = set()
    for file in PRODUCT.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and OWN.match(node.value):
                found.add(str(file.relative_to(PRODUCT)))
    assert found == {"sandbox/layout.py"}


def test_bubblewrap_gives_a_session_its_own_scratch_and_a_container_the_whole_folder() -> None:
    under_bubblewrap = {place.path: place.megabytes for place in layout.in_memory("one", 7, container=False)}
    in_container = {place.path: place.megabytes for place in layout.in_memory("one", 7, container=True)}
    assert under_bubblewrap["/scratch/one"] == in_container["/scratch"] == 7
    assert in_container.keys() - under_bubblewrap.keys() == {
        "/scratch",
        "/home/agent/.claude",
        "/home/agent/.claude/projects",
    }


def test_the_runner_passes_every_variable_on() -> None:
    assert layout.ENVIRONMENT.keys() <= set(_PASSED_ON)


def test_an_agent_is_told_of_what_it_has_and_of_nothing_else(tmp_path: Path) -> None:
    def described(*targets: str) -> str:
        return Prompts(Vault(tmp_path)).compose(execution(tmp_path, targets), "").text.partition("# Where you are\n")[2]

    everything = described("/scratch/one", "/vault/Daily", "/attachments")
    assert "scratch space is the folder in /scratch" in everything, "bubblewrap lets nobody write to /scratch itself"
    assert "/scratch/one" not in everything, "each session would have a prompt of its own, which no provider has cached"
    assert "/vault, read-only" in everything
    assert "/attachments" in everything
    assert "/vault" not in described("/attachments", "/vaults")
    assert "/attachments" not in described("/vault/Daily")


def execution(folder: Path, targets: tuple[str, ...]) -> Execution:
    """A sandbox with something at these paths."""
    return Execution(
        "sandboxed", "bubblewrap", folder / "a.sock", "m.sock", "", "/project", {}, ("/",), targets=targets
    )
