"""Skills of the vault, of projects and of the user: found, written, removed and approved."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from parachute.base.errors import Conflict, InvalidInput, NotAllowed, NotFound, ParachuteError, Unavailable
from parachute.capabilities.skills.store import MOST, SkillStore
from parachute.capabilities.texts import etag_of
from parachute.config.vault.service import Vault
from tests.support.bad_names import BAD_NAMES
from tests.support.clock import ManualClock

TIDES = "---\nname: tides\ndescription: Reads tide tables.\n---\nRead the table.\n"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path.resolve() / "vault")
    made.prepare()
    return made


@pytest.fixture
def store(vault: Vault, tmp_path: Path) -> SkillStore:
    return SkillStore(vault, tmp_path, None)


def write(path: Path, text: str = TIDES) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_skills_are_found_in_all_places_and_the_vaults_win(vault: Vault, tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    for number, root in enumerate((vault.root, home, project)):
        write(root / ".claude/skills/tides/SKILL.md", TIDES.replace("table.", f"table {number}."))
        write(root / f".claude/skills/own-{number}.md", f"Number {number}.")
    write(vault.root / ".skills/old/SKILL.md", "An old one.")
    write(vault.root / ".skills/README.md", "No skill.")
    found = {
        each.skill.name: (each.skill.source, each.skill.path)
        for each in SkillStore(vault, tmp_path, home).found(project)
    }
    assert found == {
        "tides": ("vault", ".claude/skills/tides"),
        "own-0": ("vault", ".claude/skills/own-0.md"),
        "own-1": ("user", str(home / ".claude/skills/own-1.md")),
        "own-2": ("project", str(project / ".claude/skills/own-2.md")),
        "old": ("vault", ".skills/old"),
    }
    assert {each.skill.source for each in SkillStore(vault, tmp_path, None).found()} == {"vault"}


def test_every_change_is_seen_at_once(vault: Vault, store: SkillStore) -> None:
    main = write(vault.root / ".claude/skills/tides/SKILL.md")
    seen = {store.get("tides").digest}
    script = write(main.parent / "deep" / "script", "echo 1")
    seen.add(store.get("tides").digest)
    script.write_text("echo 2")
    seen.add(store.get("tides").digest)
    script.chmod(0o755)
    seen.add(store.get("tides").digest)
    script.rename(script.with_name("other"))
    seen.add(store.get("tides").digest)
    main.write_text(TIDES.replace("table.", "other."))
    seen.add(store.get("tides").digest)
    assert len(seen) == 6
    main.unlink()
    assert store.get("tides").skill.problem


def test_a_written_skill_is_approved_until_any_of_its_files_changes(vault: Vault, store: SkillStore) -> None:
    made = store.create("tides", "Read the table.", "Reads tables: of tides, mostly.")
    assert (made.skill.description, made.skill.problem) == ("Reads tables: of tides, mostly.", None)
    assert store.is_approved(made)
    script = write(vault.root / made.skill.path / "script", "echo 1")
    changed = store.get("tides")
    assert not store.is_approved(changed)
    store.approve(changed)
    assert store.is_approved(store.get("tides"))
    script.chmod(0o755)
    assert not store.is_approved(store.get("tides"))
    store.delete("tides")
    assert not (vault.root / made.skill.path).exists()
    assert store.found() == ()


def test_the_same_skill_elsewhere_is_not_approved(vault: Vault, store: SkillStore, tmp_path: Path) -> None:
    made = store.create("tides", "Read the table.", "Reads tables.")
    write(tmp_path / "project/.claude/skills/tides/SKILL.md", made.skill.content)
    store_of_other_vault = SkillStore(Vault(tmp_path / "other"), tmp_path, None)
    (tmp_path / "other").mkdir()
    (copy,) = store_of_other_vault.found(tmp_path / "project")
    assert copy.digest == made.digest
    assert not store.is_approved(copy)


def test_fields_of_a_content_are_kept(store: SkillStore) -> None:
    made = store.create("tides", "---\nname: other\nversion: '2'\ndescription: Old.\n---\nRead.\n", "New.")
    assert (made.skill.name, made.skill.version, made.skill.description) == ("tides", "2", "New.")


def test_what_cannot_be_written_changes_nothing(vault: Vault, store: SkillStore) -> None:
    for wrong in (
        *({"name": name} for name in (*BAD_NAMES, "Tides", "claude-x")),
        {"description": "x" * 1025},
        {"description": "<b>x</b>"},
        {"content": " "},
        {"content": "---\nname: x\n---\n"},
        {"content": "---\na: &a [1]\nb: *a\n---\nx"},
        {"content": "x" * 300_000},
    ):
        with pytest.raises(InvalidInput):
            store.create(**{"name": "tides", "content": "Read.", "description": "Reads.", **wrong})
        assert not (vault.root / ".claude/skills").exists(), wrong


def test_a_name_that_is_taken_is_a_conflict(vault: Vault, store: SkillStore) -> None:
    write(vault.root / ".skills/tides/SKILL.md")
    (vault.root / ".claude/skills/hollow").mkdir(parents=True)
    for name in ("tides", "hollow"):
        with pytest.raises(Conflict):
            store.create(name, "Read.", "Reads.")


def test_only_the_vaults_own_are_removed(vault: Vault, tmp_path: Path) -> None:
    path = write(tmp_path / "home/.claude/skills/tides/SKILL.md")
    store = SkillStore(vault, tmp_path, tmp_path / "home")
    with pytest.raises(NotAllowed):
        store.delete("tides")
    with pytest.raises(NotFound):
        store.delete("nobody")
    assert path.exists()


def test_a_link_in_place_of_the_folder_is_neither_read_nor_written_through(
    vault: Vault, store: SkillStore, tmp_path: Path
) -> None:
    write(tmp_path / "elsewhere/tides/SKILL.md")
    (vault.root / ".claude/skills").symlink_to(tmp_path / "elsewhere")
    assert store.found() == ()
    with pytest.raises(Unavailable):
        store.create("knots", "Tie.", "Ties.")
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["tides"]


def test_nothing_is_read_again_that_has_not_changed(vault: Vault, tmp_path: Path) -> None:
    # Later than a step of the clock by which files are dated, within which one may change once more.
    store = SkillStore(vault, tmp_path, None, ManualClock(datetime.now(UTC) + timedelta(minutes=1)))
    for number in range(200):
        write(vault.root / f".claude/skills/s{number}/SKILL.md", f"Number {number}.")
    first = store.found()
    again = store.found()
    assert all(one is other for one, other in zip(first, again, strict=True))
    assert len(again) == 200


FULL = """---
name: tides
description: Reads tide tables.
license: MIT
---
Read the table.
"""


def test_a_change_keeps_the_fields_and_the_other_files(vault: Vault, store: SkillStore) -> None:
    main = write(vault.root / ".claude/skills/tides/SKILL.md", FULL)
    script = write(main.parent / "script", "echo 1")
    script.chmod(0o755)
    before = store.get("tides").skill
    made = store.change("tides", "Look it up.", "Finds tides.", etag_of(before.content))
    assert main.read_text() == FULL.replace("Reads tide tables", "Finds tides").replace(
        "---\nRead the table", "---\n\nLook it up"
    )
    assert [file.name for file in made.skill.files] == ["SKILL.md", "script"]
    assert not store.is_approved(made), "nobody has seen the script"
    store.approve(made)
    assert store.is_approved(store.change("tides", "Look it up twice."))
    script.write_text("echo 2")
    assert not store.is_approved(store.change("tides", "Look it up again."))
    text = TIDES.replace("Read the", "Read my")
    assert store.change("tides", text).skill.content == text


def test_a_change_approves_what_has_nothing_else(vault: Vault, store: SkillStore) -> None:
    path = write(vault.root / ".skills/knots.md", "Tie a bowline.")
    made = store.change("knots", "Tie a reef knot.", "Ties knots.")
    assert (made.skill.description, made.skill.path) == ("Ties knots.", ".skills/knots.md")
    assert store.is_approved(made)
    with pytest.raises(Conflict) as refused:
        store.change("knots", "Tie none.", expected=etag_of("Tie a bowline."))
    assert refused.value.key == "changed_meanwhile"
    assert "reef" in path.read_text()


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"content": " "}, "skill_not_usable"),
        ({"content": "x" * 300_000}, "content_too_long"),
        ({"description": "<b>x</b>"}, "description_with_tags"),
        ({"content": "---\nname: other\n---\nx"}, "skill_not_usable"),
        ({"name": "nobody"}, "no_such_skill"),
        ({"name": "broken"}, "not_readable"),
    ],
)
def test_a_wrong_change_changes_nothing(vault: Vault, store: SkillStore, wrong: dict[str, str], key: str) -> None:
    path = write(vault.root / ".claude/skills/tides/SKILL.md")
    write(vault.root / ".claude/skills/broken/SKILL.md", "---\nname: broken\n")
    with pytest.raises(ParachuteError) as refused:
        store.change(**{"name": "tides", "content": "Look it up.", **wrong})
    assert refused.value.key == key
    assert path.read_text() == TIDES


def test_a_folder_with_more_skills_than_are_read_says_so(vault: Vault, store: SkillStore) -> None:
    for number in range(MOST + 2):
        write(vault.root / f".claude/skills/s{number:04}.md", f"Number {number}.")
    found = [each.skill for each in store.found()]
    assert [each.name for each in found if each.problem] == [f"s{MOST:04}.md"]
    assert len(found) == MOST + 1
