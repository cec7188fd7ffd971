"""The recipe, and the same in the words of a Containerfile."""

from pathlib import Path

import pytest

from parachute.image import recipe

CONTAINERFILE = Path(__file__).parents[2] / "sandbox" / "Containerfile"


def test_the_containerfile_makes_the_same() -> None:
    text = " ".join(CONTAINERFILE.read_text().replace("\\\n", " ").split())
    assert f"debian:{recipe.SUITE}-slim" in text
    packages = text.partition("--no-install-recommends ")[2].partition(" && ")[0]
    assert tuple(packages.split()) == recipe.PACKAGES
    steps = text.partition("RUN ")[2].split(" && ")
    for line in recipe._SETUP.strip().splitlines():
        if line.startswith(("groupadd", "useradd", "mkdir", "touch", "chmod", "python3", "find")):
            assert line in steps


def test_the_digest_changes_with_what_is_in_the_image(monkeypatch: pytest.MonkeyPatch) -> None:
    before = recipe.digest()
    monkeypatch.setattr(recipe, "PACKAGES", (*recipe.PACKAGES, "vim-tiny"))
    assert recipe.digest() != before


def test_the_root_is_made_with_the_rights_that_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for user, mode in ((0, "root"), (1000, "unshare")):
        monkeypatch.setattr("os.geteuid", lambda user=user: user)
        assert f"--mode={mode}" in recipe.root_command(tmp_path / "root.tar")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    assert "secret" not in recipe.root_environment(tmp_path).values()
