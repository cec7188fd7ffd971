"""Declarations of home-manager are in no backup and holds after each restore, whatever computer the backup is from."""

import json
import os
import pwd
import shutil
from pathlib import Path

import pytest

from parachute.config.declared.file import VARIABLE, load
from tests.nix.evaluation import evaluate

from .installation import Installation

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not shutil.which("nix-instantiate"), reason="needs Nix: `make test-deps` installs it"),
]

MARK = "A name that only the declaration has"


@pytest.fixture
def generation(installation: Installation, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The link to a declaration that home-manager is going to make for the user of the installation."""
    user = pwd.getpwuid(os.geteuid()).pw_name
    found = evaluate(
        f"""{{
          home = {{ username = "{user}"; homeDirectory = "{installation.folder}"; }};
          services.parachute = {{ enable = true; acceptUnfreeAgent = false; workspaces.garden.name = "{MARK}"; }};
        }}""",
        home=True,
    )
    (named,) = (
        json.loads(each).partition("=")[2]
        for each in found["systemd"]["user"]["services"]["parachute-core"]["Service"]["Environment"]
        if VARIABLE in each
    )
    store = installation.folder / "store"
    store.mkdir()
    (store / "declared.json").write_text(json.dumps(found["services"]["parachute"]["declared"]))
    monkeypatch.setenv(VARIABLE, named)
    return Path(named)


def declare(generation: Path) -> None:
    """Switch to the generation, as home-manager does."""
    generation.parent.mkdir(parents=True, exist_ok=True)
    folder = next(each for each in generation.parents if (each / "store").is_dir())
    generation.symlink_to(folder / "store" / "declared.json")


def test_a_backup_of_a_computer_that_declared_nothing_leaves_it_in_force(
    installation: Installation, generation: Path
) -> None:
    installation.create()
    declare(generation)
    before = load()
    assert [each["name"] for each in before.workspaces.values()] == [MARK]
    installation.restore(trust=True)
    assert load() == before


def test_a_backup_of_another_generation_leaves_it_in_force(installation: Installation, generation: Path) -> None:
    declare(generation)
    before = load()
    # Where the declaration once was, and a backup may still have it.
    for link in {generation, installation.home / "declared.json"}:
        link.unlink(missing_ok=True)
        link.symlink_to("/nix/store/collected-since/declared.json")
    installation.create()
    generation.unlink()
    declare(generation)
    installation.restore(trust=True)
    assert load() == before


def test_no_backup_names_it(installation: Installation, generation: Path) -> None:
    declare(generation)
    installation.create()
    (snapshot,) = installation.latest().snapshots
    content = installation.content(snapshot)
    assert str(installation.home).encode()[1:] in content
    assert b"declared.json" not in content
