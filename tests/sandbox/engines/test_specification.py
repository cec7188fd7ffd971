"""Specification files: what decides about a sandbox is read as strictly as it is written."""

import json
import stat
import uuid
from pathlib import Path
from typing import Any

import pytest

from parachute.base.errors import InvalidInput
from parachute.sandbox.engines.models import Mount, Specification, encoded_directory
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap
from tests.support.waiting import wait_until

pytestmark = pytest.mark.process

SESSION = str(uuid.UUID(int=1))


def specification(**fields: Any) -> Specification:
    """One that can be loaded."""
    values: dict[str, Any] = {
        "session": SESSION,
        "directory": f"/scratch/{SESSION}",
        "mounts": (Mount("/a", "/b", True),),
        "sockets": "/sockets",
        "transcripts": "/transcripts",
        "transcripts_target": "/home/agent/.claude/projects/x",
        "program": "/bin/true",
        "scratch_megabytes": 16,
        "idle_seconds": 1.5,
    }
    return Specification(**{**values, **fields})


def test_it_is_read_as_it_was_written_and_only_its_owner_may(tmp_path: Path) -> None:
    specification().save(tmp_path)
    path = tmp_path / f"{SESSION}.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Specification.load(tmp_path, SESSION) == specification()


def test_what_is_unknown_or_of_the_wrong_type_is_refused(tmp_path: Path) -> None:
    for change in (
        {"unknown": 1},
        {"mounts": None},
        {"mounts": [{"source": "/a", "target": "/b", "writable": "no"}]},
        {"mounts": [{"source": "/a", "target": "/b", "device": True}]},
        {"mounts": [{"source": 1, "target": "/b"}]},
        {"scratch_megabytes": "16"},
        {"scratch_megabytes": True},
        {"idle_seconds": None},
        {"program": ["/bin/sh", "-c"]},
        {"session": str(uuid.UUID(int=2))},
    ):
        specification().save(tmp_path)
        path = tmp_path / f"{SESSION}.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
        with pytest.raises(InvalidInput):
            Specification.load(tmp_path, SESSION)


def test_a_file_that_is_no_specification_is_refused(tmp_path: Path) -> None:
    for content in (b"", b"{", b"[]", b"null", b"\xff", b"{}" + b" " * (300 * 1024)):
        (tmp_path / f"{SESSION}.json").write_bytes(content)
        with pytest.raises(InvalidInput):
            Specification.load(tmp_path, SESSION)


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    specification().save(tmp_path)
    path = tmp_path / f"{SESSION}.json"
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(InvalidInput):
        Specification.load(tmp_path, SESSION)


def test_an_id_that_is_none_is_refused_at_both_ends(tmp_path: Path) -> None:
    for session in ("", "../x", f"../{SESSION}", SESSION.upper()[:-1] + "A", f"{SESSION}\n", "a" * 36):
        with pytest.raises(InvalidInput):
            specification(session=session).save(tmp_path)
        with pytest.raises(InvalidInput):
            Specification.load(tmp_path, session)
        assert list(tmp_path.iterdir()) == [], session


@pytest.mark.long
@needs_bubblewrap
async def test_the_launcher_takes_no_specification_of_another_session(sandboxes: SandboxFactory) -> None:
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    await sandboxes.prepare(session=first)
    sandbox = await sandboxes.make(session=second)
    folder = sandboxes.launcher.home.sandboxes
    (folder / f"{second}.json").write_text((folder / f"{first}.json").read_text())
    with sandbox.start("true") as process:
        _, errors = process.communicate(timeout=90)
    assert process.returncode == 70
    assert b"sandbox ended" in errors
    log = sandboxes.launcher.home.logs / "sandbox.log"
    wait_until(lambda: "belongs to another session" in log.read_text(), "the log says why")
    # Preparing it again repairs what was broken: the file is written anew, and a failed unit gets another chance.
    await sandboxes.service.opened.close(second)
    sandbox = await sandboxes.make(session=second)
    assert sandbox.shell("echo well") == "well\n"


@needs_bubblewrap
async def test_a_program_that_was_replaced_counts_from_the_next_start(sandboxes: SandboxFactory) -> None:
    session = str(uuid.uuid4())
    sandbox = await sandboxes.make(session=session)
    assert sandbox.shell("echo old") == "old\n"
    replacement = sandboxes.program.with_name("new")
    replacement.write_text("#!/bin/sh\necho new\n")
    replacement.chmod(0o755)
    replacement.rename(sandboxes.program)
    await sandboxes.service.opened.close(session)
    sandbox = await sandboxes.make(session=session)
    assert sandbox.shell("echo old") == "new\n"


def test_the_name_of_a_transcripts_folder() -> None:
    for directory, name in (
        ("/vault/Projects/my_app 1.0", "-vault-Projects-my-app-1-0"),
        ("/vault/caf\u00e9", "-vault-caf-"),
        ("/vault/\U0001f600", "-vault---"),  # two UTF-16 units
        ("/vault/cafe\u0301", None),
        ("/vault/" + "a" * 194, None),
    ):
        assert encoded_directory(directory) == name
