"""S14: one file with YAML stops neither the server nor a module."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from parachute.base.errors import InvalidInput
from parachute.config.vault.service import Vault
from parachute.modules.agent_definitions.definition import read_definition
from tests.capabilities.agents.stores import agent_store

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
ALIASES = "a0: &a0 x\n" + "".join(f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 10)}]\n" for n in range(5))


@pytest.mark.parametrize("front", [f"{ALIASES}name: *a5", f"name: {'[' * 30_000}", "- " * 15_000])
def test_an_agent_of_a_hostile_vault_is_refused(tmp_path: Path, front: str) -> None:
    vault = Vault(tmp_path / "vault")
    vault.prepare()
    (vault.root / "agent.md").write_text(f"---\n{front}\n---\nDo it.\n")
    with pytest.raises(InvalidInput) as refused:
        agent_store(vault).find("agent.md")
    assert refused.value.key == "yaml_unreadable"
    with pytest.raises(InvalidInput) as refused:
        read_definition("agent", "Garden", (vault.root / "agent.md").read_text())
    assert refused.value.key == "yaml_unreadable"


@pytest.mark.parametrize(
    "front", ["[" * 30_000, "- " * 100_000, "? " * 100_000, "\r".join(" " * n + "a:" for n in range(2_000))]
)
def test_a_day_of_the_journal_with_lists_inside_of_lists_is_read_as_text(tmp_path: Path, front: str) -> None:
    # In a process of its own: the parser overflows its stack and takes the process with it.
    day = tmp_path / "2025-03-04.md"
    day.write_text(f"---\ndate: 2025-03-04\nx: {front}\n---\n\n# para:daily:aaaaaaaaaaaa 10:00\n\nText\n")
    program = (
        "import pathlib, sys; from daily.days.day import Day; "
        "day = Day.parse(pathlib.Path(sys.argv[1]).read_bytes()); print(day.problem, len(day.entries))"
    )
    path = os.pathsep.join([str(ROOT), str(ROOT / "modules/daily")])
    done = subprocess.run(
        [sys.executable, "-c", program, day], env={"PYTHONPATH": path}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "cannot be read" in done.stdout
    assert done.stdout.endswith(" 1\n")
