"""Every Nix file of the tree can be read, and uses no name that nothing defines."""

import subprocess
from pathlib import Path

import pytest

from tests.nix.evaluation import TREE, parse

pytestmark = pytest.mark.process

LISTED = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.nix"],
    cwd=TREE,
    capture_output=True,
    text=True,
    check=True,
).stdout.split()


def test_all_of_it_is_nix() -> None:
    assert len(LISTED) > 20
    assert parse(*(TREE / file for file in LISTED)) is None


def test_a_mistake_is_found(tmp_path: Path) -> None:
    file = tmp_path / "wrong.nix"
    file.write_text("{ lib, ... }: { a = lbi.id 1; }")
    assert "undefined variable 'lbi'" in str(parse(file))
    file.write_text("{ a = 1 }")
    assert "syntax error" in str(parse(file))


def test_the_module_reads_every_file_beside_it() -> None:
    """A file that nobody imports would never be evaluated."""
    text = "".join((TREE / "nixos" / name).read_text() for name in ("modules.nix", "shared.nix", "default.nix"))
    concerns = {
        path.name for path in (TREE / "nixos").glob("*.nix") if "options.services.parachute" in path.read_text()
    }
    assert len(concerns) > 10
    # The other module, which the flake names.
    assert [name for name in sorted(concerns) if f"./{name}" not in text] == ["home.nix"]
