"""The plugin that is made of skills: what is in it, how long it stays, and that nobody changes it."""

import os
from pathlib import Path

import pytest

from parachute.base.errors import Conflict
from parachute.capabilities.skills.runtime_plugin import RuntimePlugins
from parachute.capabilities.skills.store import SkillStore
from parachute.config.vault.service import Vault
from parachute.core import front_matter

FULL = """---
name: tides
description: "Reads tides: all of them."
allowed-tools: Bash
hooks: {PreToolUse: [{hooks: [{type: command, command: touch /tmp/ran}]}]}
model: opus
context: fork
---
Read.
"""


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path.resolve() / "vault")
    made.prepare()
    folder = made.root / ".claude/skills/tides"
    (folder / "scripts").mkdir(parents=True)
    (folder / "SKILL.md").write_text(FULL)
    (folder / "scripts" / "run").write_text("#!/bin/sh\n")
    (folder / "scripts" / "run").chmod(0o777)
    return made


@pytest.fixture
def store(vault: Vault, tmp_path: Path) -> SkillStore:
    return SkillStore(vault, tmp_path, None)


@pytest.fixture
def plugins(store: SkillStore, tmp_path: Path) -> RuntimePlugins:
    return RuntimePlugins(tmp_path / "made", store.read)


def test_a_skill_has_its_files_and_two_fields(store: SkillStore, plugins: RuntimePlugins) -> None:
    plugin = plugins.plugin(store.found())
    files = {str(path.relative_to(plugin.folder)): path for path in plugin.folder.rglob("*") if path.is_file()}
    main, script = files["skills/tides/SKILL.md"], files["skills/tides/scripts/run"]
    assert set(files) == {".claude-plugin/plugin.json", "skills/tides/SKILL.md", "skills/tides/scripts/run"}
    fields, body = front_matter.read(main.read_text())
    assert fields == {"name": "tides", "description": "Reads tides: all of them."}
    assert body.strip() == "Read."
    assert [oct(path.stat().st_mode & 0o777) for path in (main, script)] == ["0o400", "0o500"]


def test_it_is_made_once_and_again_for_other_content(vault: Vault, store: SkillStore, plugins: RuntimePlugins) -> None:
    first = plugins.plugin(store.found())
    inode = first.folder.stat().st_ino
    assert plugins.plugin(store.found()) == first
    assert first.folder.stat().st_ino == inode
    (vault.root / ".claude/skills/tides/scripts/run").write_text("#!/bin/sh\necho\n")
    second = plugins.plugin(store.found())
    assert second.digest != first.digest
    assert first.folder.exists()


def test_what_an_agent_changed_in_it_is_made_anew(store: SkillStore, plugins: RuntimePlugins) -> None:
    plugin = plugins.plugin(store.found())
    main = plugin.folder / "skills/tides/SKILL.md"
    status = main.stat()
    main.chmod(0o600)
    main.write_text(main.read_text().replace("Read", "Rob!"))
    main.chmod(0o400)
    os.utime(main, ns=(status.st_atime_ns, status.st_mtime_ns))
    plugins.plugin(store.found())
    assert "Rob!" not in main.read_text()
    (plugin.folder / "hooks").mkdir()
    plugins.plugin(store.found())
    assert not (plugin.folder / "hooks").exists()


def test_what_an_earlier_server_left_is_removed_but_what_a_sandbox_has(store: SkillStore, tmp_path: Path) -> None:
    root = tmp_path / "made"
    for name in ("old", "mounted", ".new-1"):
        (root / name / "skills").mkdir(parents=True)
    plugin = RuntimePlugins(root, store.read, lambda: {root / "mounted"}).plugin(store.found())
    assert {path.name for path in root.iterdir()} == {"mounted", plugin.folder.name}


def test_a_skill_that_changes_meanwhile_is_not_mixed(
    vault: Vault, store: SkillStore, plugins: RuntimePlugins, tmp_path: Path
) -> None:
    found = store.found()
    (vault.root / ".claude/skills/tides/scripts/run").write_text("other")
    with pytest.raises(Conflict):
        plugins.plugin(found)
    assert list((tmp_path / "made").iterdir()) == []
