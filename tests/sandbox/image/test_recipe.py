"""The recipe, and what is derived from it."""

import re
from pathlib import Path

import pytest

from parachute.sandbox import layout
from parachute.sandbox.image import recipe
from parachute.sandbox.image.contents import debian_packages
from parachute.sandbox.image.derived import derived

TREE = Path(__file__).parents[3]


@pytest.mark.parametrize("path", sorted(derived()))
def test_what_follows_from_the_recipe_is_written(path: str) -> None:
    assert (TREE / path).read_text() == derived()[path], "python -m parachute.sandbox.image.derived"


def test_the_recipe_makes_each_place_that_the_base_system_lacks() -> None:
    made = "\n".join(recipe.STEPS)
    for place in layout.PLACES:
        if place.made_by == "recipe":
            assert re.search(rf"^(mkdir|touch|chmod).* {place.path}( |/|$)", made, re.MULTILINE), place.path


def test_the_digest_changes_with_what_is_in_the_image(monkeypatch: pytest.MonkeyPatch) -> None:
    before = recipe.digest()
    assert recipe.digest((*recipe.PACKAGES, "vim-tiny")) != before
    monkeypatch.setattr(recipe, "SUITE", "forky")
    assert recipe.digest() != before


def test_the_users_own_packages_are_part_of_the_recipe(tmp_path: Path) -> None:
    own = debian_packages(["libpq-dev", "ffmpeg", "git"], ["npm", "gcc"])
    assert own == debian_packages(["ffmpeg", "libpq-dev"], ["gcc", "npm"])
    assert {*recipe.PACKAGES} - {*own} == {"npm", "gcc"}
    assert recipe.digest(own) == recipe.digest(own[::-1]) != recipe.digest()
    assert recipe.is_older(recipe.digest(), own)
    assert not recipe.is_older(recipe.digest(own), own)
    command = recipe.root_command(tmp_path / "root.tar", own)
    (included,) = [each for each in command if each.startswith("--include=")]
    assert included == f"--include={','.join(own)}"
    assert any(f"echo {recipe.digest(own)} >" in each for each in command)


def test_the_root_is_made_with_the_rights_that_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for user, mode in ((0, "root"), (1000, "unshare")):
        monkeypatch.setattr("os.geteuid", lambda user=user: user)
        assert f"--mode={mode}" in recipe.root_command(tmp_path / "root.tar")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    assert "secret" not in recipe.root_environment(tmp_path).values()
