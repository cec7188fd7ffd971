"""Files and folders that match the patterns of a manifest, and no others."""

from pathlib import Path

import pytest

from parachute.automation.module_agents import folders
from parachute.automation.module_agents.folders import MountRules
from parachute.base.errors import InvalidInput
from tests.support.errors import raises

FILES = (
    *("Brain/a.md", "Brain/b.txt", "Brain/deep/c.md", "Brain/deep/notes/d.md", "Daily/today.md", "top.md"),
    *(".hidden/x.md", ".skills/s.md", ".parachute/sessions.db"),
)


@pytest.fixture
def rules(tmp_path: Path) -> MountRules:
    """A vault with links in it, which lead to a secret beside it."""
    vault, secret = tmp_path / "vault", tmp_path / "secret"
    for name in FILES:
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text(name)
    secret.mkdir()
    (secret / "key.md").write_text("key")
    (vault / "Brain/link.md").symlink_to(secret / "key.md")
    (vault / "Linked").symlink_to(secret)

    def nowhere(folder: Path) -> Path:
        raise InvalidInput("Not there.")

    return MountRules(vault, tmp_path / "home", (), nowhere)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Brain/", ["Brain"]),
        ("Brain/**", ["Brain"]),
        ("Brain", ["Brain"]),
        ("Brain/a.md", ["Brain/a.md"]),
        ("Brain/*", ["Brain/a.md", "Brain/b.txt"]),
        ("Brain/*.md", ["Brain/a.md"]),
        ("Brain/**/*.md", ["Brain/a.md", "Brain/deep/c.md", "Brain/deep/notes/d.md"]),
        ("*/deep/**", ["Brain/deep"]),
        ("**/notes/**", ["Brain/deep/notes"]),
        ("**", ["Brain", "Daily", "top.md"]),
        ("*.md", ["top.md"]),
        (".skills/", [".skills"]),
        ("${CWD}", []),
        ("${CWD}/src/**", []),
        ("Linked/**", []),
        ("Linked/key.md", []),
        ("Brain/link.md", []),
        ("Gone/", []),
        ("top.md/x", []),
    ],
)
def test_what_a_path_stands_for(rules: MountRules, path: str, expected: list[str]) -> None:
    given = rules.mounts([path], writable=False)
    assert [mount.target for mount in given.sorted()] == [f"/vault/{name}" for name in expected]
    for mount in given.sorted():
        assert mount.source == str(rules.vault / mount.target.removeprefix("/vault/"))
        assert mount.is_file == Path(mount.source).is_file()
        assert not mount.writable


def test_what_is_promised_and_not_there_is_said(rules: MountRules) -> None:
    given = rules.mounts(["Gone/", "Linked/**", "Brain/link.md", "~/Work/"], writable=False)
    assert [sentence.split()[0] for sentence in given.left_out] == ["Gone/", "Linked/**", "Brain/link.md", "~/Work/"]


def test_folders_to_be_written_are_made_but_never_through_a_link(rules: MountRules) -> None:
    given = rules.mounts(["New/deep/", "Linked/new/", ".skills/", "Absent"], writable=True)
    found = {mount.target: mount.writable for mount in given.sorted()}
    assert found == {"/vault/New/deep": True, "/vault/.skills": False}
    assert (rules.vault / "New/deep").is_dir()
    assert not (rules.vault / "Linked/new").exists()
    assert not (rules.vault / "Absent").exists()


def test_what_programs_of_the_user_obey_is_not_given_for_writing(rules: MountRules) -> None:
    for name in ("Brain/.git/hooks/x", "Brain/.vscode/tasks.json", "Brain/git/x"):
        (rules.vault / name).parent.mkdir(parents=True, exist_ok=True)
        (rules.vault / name).write_text("x")
    given = rules.mounts(["Brain/.git/hooks/", "Brain/.*/**", "Brain/git/**", "Brain/.new/**"], writable=True)
    assert {mount.target: mount.writable for mount in given.sorted()} == {
        "/vault/Brain/.git": False,
        "/vault/Brain/.vscode": False,
        "/vault/Brain/git": True,
    }
    assert not (rules.vault / "Brain/.new").exists()
    assert sum("only for reading" in sentence for sentence in given.left_out) == 3


@pytest.mark.parametrize("path", [".parachute/", ".hidden/x.md", ".claude/**", ".*/**"])
def test_what_belongs_to_the_computer_is_refused(rules: MountRules, path: str) -> None:
    with raises("computers_own"):
        rules.mounts([path], writable=False)


def test_a_folder_with_the_folder_of_trust_in_it_is_left_out(rules: MountRules) -> None:
    inside = MountRules(rules.vault, rules.vault / "Brain/deep", (), rules.check_directory)
    given = inside.mounts(["Brain/", "Brain/deep/notes/", "Daily/"], writable=False)
    assert [mount.target for mount in given.sorted()] == ["/vault/Daily"]
    assert len(given.left_out) == 2


def test_what_lies_in_another_folder_is_not_given_twice(rules: MountRules) -> None:
    given = rules.mounts(["Brain/deep/", "Brain/a.md", "Brain/**"], writable=False)
    assert [mount.target for mount in given.sorted()] == ["/vault/Brain"]


def test_patterns_have_bounds(rules: MountRules, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_MOUNTS", 2)
    with raises("too_many_folders"):
        rules.mounts(["Brain/**/*.md"], writable=False)
    monkeypatch.setattr(folders, "_ENTRIES", 4)
    with raises("too_many_entries"):
        rules.mounts(["**/*.md"], writable=False)
