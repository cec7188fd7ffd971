"""S2, S3, S5: whoever reads or writes below the vault or a module follows no link, wherever on the way one was put."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from parachute.automation.maintenance.logs import copy_logs
from parachute.base import openat2, opening
from parachute.base.errors import InvalidInput, ParachuteError
from parachute.base.files import kind_of, walk_tree
from parachute.base.folders import Folder
from parachute.base.openat2 import open_beneath
from parachute.chat.claude_code_import.history import History
from parachute.chat.claude_code_import.models import Found
from parachute.chat.contexts.chains import read_chain
from parachute.chat.contexts.reading import Reader
from parachute.chat.contexts.texts import text_of
from parachute.chat.runs.event_files import EventFiles
from parachute.chat.sessions.transcripts import Transcripts
from parachute.chat.workspaces.copies import Copies
from parachute.config.vault.service import Vault
from parachute.core.files import Files
from parachute.events.hooks import memory
from parachute.modules.agent_definitions.brought import brought_agents
from parachute.modules.trees.hashing import copy_verified, tree_hash
from tests.capabilities.agents.stores import agent_store

pytestmark = pytest.mark.process

SECRET = "the secret"
SESSION = "0f8fad5b-d9cb-469f-a165-70867728950e"
AGENT = f"---\nname: agent\nschedule: '04:00'\n---\n{SECRET}\n"
LINE = '{"type": "user", "message": {"role": "user", "content": "the secret"}, "timestamp": "2026-01-01T00:00:00Z"}\n'


@pytest.fixture(params=["openat2", "walk"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "walk":
        # A kernel without the call.
        monkeypatch.setattr(openat2, "_available", False)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path / "vault")
    made.prepare()
    return made


def context_of(vault: Vault) -> str:
    return text_of(read_chain(vault, Reader(), ["Projects/garden"], None, None))


def read_log(vault: Vault) -> str:
    target = vault.root.parent / "copies"
    target.mkdir()
    copy_logs(vault.root / "logs", vault.root / "none", target, ())
    return "".join(path.read_text() for path in target.iterdir())


def looked_over(vault: Vault) -> str:
    paths = [path for path, status in walk_tree(vault.root) if kind_of(status) == "file"]
    with Folder.open(vault.root) as folder:
        return "".join(folder.read(path, 1000).decode() for path in paths)


def history_of(vault: Vault) -> str:
    return str(History(vault.root / "claude").messages(Found("-home", SESSION, 1, 1)))


READERS: dict[str, tuple[str, str, Callable[[Vault], object]]] = {
    "the files of a module": (
        "Notes/a/b.md",
        SECRET,
        lambda vault: Files(vault.root, ["**"])._read_bytes(("Notes", "a", "b.md")),
    ),
    "a look over a whole folder": ("Notes/a/b.md", SECRET, looked_over),
    "an agent that a module brings": ("agents/agent.md", AGENT, lambda vault: brought_agents(vault.root, "garden")),
    "an agent of a chat": ("Agents/agent.md", SECRET, lambda vault: agent_store(vault).find("Agents/agent.md").prompt),
    "a project's instructions": ("Projects/garden/AGENTS.md", SECRET, context_of),
    "the memory": ("parachute/memory.md", SECRET, lambda vault: memory.newest(vault.root)),
    "a log": ("logs/core.log", SECRET, read_log),
    "another program's conversation": (f"claude/projects/-home/{SESSION}.jsonl", LINE, history_of),
    "a transcript": (
        f".claude/projects/-scratch-{SESSION}/{SESSION}.jsonl",
        LINE,
        lambda vault: list(Transcripts(vault, vault.root / "none").events(SESSION)),
    ),
    "what a run has said": (
        ".parachute/runs/1.jsonl",
        f'[[1, ["{SECRET}"]]]\n',
        lambda vault: EventFiles(vault.state / "runs").read(1),
    ),
}


def outcome(read: Callable[[Vault], object], vault: Vault) -> str:
    try:
        return str(read(vault))
    except (ParachuteError, OSError) as error:
        return f"refused: {type(error).__name__}"


@pytest.mark.parametrize("reader", READERS)
def test_what_lies_there_is_read(vault: Vault, reader: str) -> None:
    path, content, read = READERS[reader]
    file = vault.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    assert SECRET in outcome(read, vault)


@pytest.mark.parametrize("reader", READERS)
def test_a_link_in_the_place_of_the_file_is_not_followed(vault: Vault, reader: str) -> None:
    path, content, read = READERS[reader]
    file = vault.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    (vault.root.parent / "outside").write_text(content)
    file.symlink_to(vault.root.parent / "outside")
    assert SECRET not in outcome(read, vault)


@pytest.mark.parametrize("reader", [name for name in READERS if name not in ("a log", "what a run has said")])
def test_a_link_in_the_place_of_its_folder_is_not_followed(vault: Vault, reader: str) -> None:
    path, content, read = READERS[reader]
    file = vault.root / path
    outside = vault.root.parent / "outside"
    outside.mkdir()
    (outside / file.name).write_text(content)
    file.parent.parent.mkdir(parents=True, exist_ok=True)
    file.parent.symlink_to(outside)
    assert SECRET not in outcome(read, vault)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.timeout(20)
def test_nobody_waits_for_a_pipe(vault: Vault, reader: str) -> None:
    path, _, read = READERS[reader]
    (vault.root / path).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(vault.root / path)
    outcome(read, vault)


def test_nothing_is_written_through_a_link(vault: Vault, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("Notes", "parachute", ".parachute/workspaces"):
        (vault.root / name).parent.mkdir(exist_ok=True)
        (vault.root / name).symlink_to(outside)
    with pytest.raises(InvalidInput):
        Files(vault.root, (), ["**"])._write_bytes(("Notes", "a.md"), b"x")
    with pytest.raises(InvalidInput):
        Files(vault.root, (), ["**"])._write_bytes(("Notes", "a", "b.md"), b"x")
    with pytest.raises(OSError):
        memory.append(vault.root, "Today", ["x"])
    assert list(Copies(vault).read()) == []
    assert list(outside.iterdir()) == []


def test_the_activity_of_conversations_is_not_written_through_a_link(vault: Vault, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (vault.state / "activity").symlink_to(outside)
    times = {"started_at": "2026-01-01T10:00:00+00:00", "ended_at": "2026-01-01T10:05:00+00:00"}
    event = {"vault_path": str(vault.root), "data": {**times, "message_count": 2, "session_id": SESSION}}
    command = [sys.executable, "-m", "parachute.hooks.defaults.activity_summary"]
    assert subprocess.run(command, input=json.dumps(event), text=True, capture_output=True, check=False).returncode
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("path", ["..", "../x", "a/../../x", "/etc/passwd", "a\0b"])
def test_a_path_that_leads_out_is_refused(tmp_path: Path, path: str) -> None:
    with Folder.open(tmp_path) as folder, pytest.raises(InvalidInput) as refused:
        folder.remove(path)
    assert refused.value.key == "path_leads_out"


def test_magic_links_and_devices_are_no_files() -> None:
    with Folder.open(Path("/proc/self")) as process:
        for path in ("root/etc/passwd", "cwd/pyproject.toml", "exe", "fd/0"):
            with pytest.raises(OSError):
                process.read(path, 1 << 30)
    with Folder.open(Path("/dev")) as devices, pytest.raises(InvalidInput) as refused:
        devices.read("zero", 100)
    assert refused.value.key == "not_a_file"


def test_a_folder_that_becomes_a_link_while_a_module_is_copied_brings_nothing_from_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, outside = tmp_path / "module", tmp_path / "outside"
    for folder, content in ((module / "inner", "mine"), (outside, SECRET)):
        folder.mkdir(parents=True)
        (folder / "code.py").write_text(content)
    assert copy_verified(module, tmp_path / "before") == tree_hash(module)
    inner = module / "inner"

    def swap_and_open(descriptor: int, path: str, flags: int, mode: int, *rest: bool) -> int | None:
        if path == "inner" and not inner.is_symlink():  # which was a folder when it was listed
            inner.rename(tmp_path / "away")
            inner.symlink_to(outside)
        return open_beneath(descriptor, path, flags, mode, *rest)

    monkeypatch.setattr(opening, "open_beneath", swap_and_open)
    with pytest.raises(ParachuteError) as refused:
        copy_verified(module, tmp_path / "copy")
    assert refused.value.key == "unreadable"
    assert inner.is_symlink()
    assert [*(tmp_path / "copy").rglob("*.py")] == []
