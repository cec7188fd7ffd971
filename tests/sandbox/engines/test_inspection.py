"""Looking at a sandbox from three sides: one that is as asked says so, and each kind of sabotage is found in its own row."""

import asyncio
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from parachute.sandbox.engines.inspection.models import Explanation
from parachute.sandbox.engines.models import Mount, Specification
from parachute.sandbox.engines.open_sandboxes import ClosedMeanwhile
from parachute.sandbox.image.models import Image
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap
from tests.sandbox.engines.holding import Holding
from tests.sandbox.engines.sandboxes import Sandbox
from tests.supervisor.launching import ROOT, launcher

pytestmark = [needs_bubblewrap, pytest.mark.process]

RECIPE = "5" * 64
OF_THIS_MACHINE = {"the internet", "the local network", "names of hosts"}
"""Rows that say something about a network only on a machine that has one."""


def session_of(sandbox: Sandbox) -> str:
    return sandbox.unit.partition("@")[2]


def differing(explanation: Explanation) -> dict[str, str]:
    """The rows that differ, with their sentences."""
    return {row.name: row.problem for row in explanation.rows if row.problem}


def row(explanation: Explanation, name: str) -> dict[str, str]:
    (found,) = [each for each in explanation.rows if each.name == name]
    return dict(to_builtins(found))


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


async def test_a_sandbox_that_is_as_asked_says_so_and_notices_nothing(sandboxes: SandboxFactory) -> None:
    project = sandboxes.vault.root / "Projects/one"
    sandbox = await sandboxes.make(project)
    with sandbox.start("cat") as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None
        agent.stdin.write(b"before\n")
        agent.stdin.flush()
        assert agent.stdout.readline() == b"before\n"
        before, modified = everything(project), project.stat().st_mtime_ns
        found = await sandboxes.service.opened.explain(session_of(sandbox))
        assert (everything(project), project.stat().st_mtime_ns) == (before, modified)
        assert agent.communicate(b"after")[0] == b"after"
    assert differing(found) == {}
    assert row(found, "/vault/Projects/one")["inside"] == "rw, writing: done"
    assert row(found, "/vault/Daily")["inside"] == "ro, writing: EROFS"
    assert row(found, "network")["inside"] == "lo"
    assert row(found, "127.0.0.1 of this machine")["inside"] == "refused (ECONNREFUSED)"
    assert row(found, "processes")["engine"] == row(found, "processes")["inside"] == "1024"
    assert "bubblewrap cannot" in row(found, "memory")["asked"]
    assert sandboxes.service.opened.take_differences(session_of(sandbox)) == ()


async def test_a_sandbox_that_sleeps_wakes_up_for_a_look(sandboxes: SandboxFactory) -> None:
    execution = await sandboxes.prepare()
    session = execution.agent_socket.parent.name
    assert (await sandboxes.launcher.unit(f"sandbox@{session}"))["state"] == "listening"
    assert differing(await sandboxes.service.opened.explain(session)) == {}
    assert (await sandboxes.launcher.unit(f"sandbox@{session}"))["state"] == "running"
    with pytest.raises(ClosedMeanwhile):
        await sandboxes.service.opened.explain("00000000-0000-4000-8000-000000000000")


async def test_a_specification_that_was_changed_after_the_start_is_found(sandboxes: SandboxFactory) -> None:
    sandbox = await sandboxes.make()
    assert sandbox.shell("echo up") == "up\n"
    kept = Specification.load(sandboxes.launcher.home.sandboxes, session_of(sandbox))
    replace(kept, processes=9, egress=True).save(sandboxes.launcher.home.sandboxes)
    found = differing(await sandboxes.service.opened.explain(session_of(sandbox)))
    assert found.keys() == {"specification"}
    assert "the file says otherwise: egress, processes" in found["specification"]
    assert "parachute restart" in found["specification"]
    assert sandboxes.service.opened.take_differences(session_of(sandbox)) == tuple(found.values())
    assert sandboxes.service.opened.take_differences(session_of(sandbox)) == (), "told once"
    (sandboxes.launcher.home.sandboxes / f"{session_of(sandbox)}.json").write_text("{")
    assert "cannot be read" in differing(await sandboxes.service.opened.explain(session_of(sandbox)))["specification"]


async def test_a_specification_that_was_changed_before_the_start_is_found_in_the_sandbox(
    sandboxes: SandboxFactory,
) -> None:
    sandbox = await sandboxes.make()
    kept = Specification.load(sandboxes.launcher.home.sandboxes, session_of(sandbox))
    mounts = [replace(mount, writable=mount.target == "/vault/Daily") for mount in kept.mounts]
    mounts.append(Mount(str(sandboxes.vault.root / ".hidden"), "/hidden", writable=True))
    replace(kept, processes=4096, mounts=tuple(mounts)).save(sandboxes.launcher.home.sandboxes)
    found = differing(await sandboxes.service.opened.explain(session_of(sandbox)))
    assert found.keys() == {"specification", "/vault/Daily", "processes", "other places"}
    assert "rw, writing: done" in found["/vault/Daily"]
    assert "parachute panic" in found["/vault/Daily"]
    assert "/hidden can be written" in found["other places"]
    assert "4096" in found["processes"]


async def test_a_folder_that_was_exchanged_is_found(sandboxes: SandboxFactory) -> None:
    project = sandboxes.launcher.folder / "project"
    project.mkdir()
    sandbox = await sandboxes.make(project)
    assert sandbox.shell("echo up") == "up\n"
    project.rename(sandboxes.launcher.folder / "away")
    project.mkdir()
    found = differing(await sandboxes.service.opened.explain(session_of(sandbox)))
    assert "rw, but something else" in found["/project"]
    assert "parachute restart" in found["/project"]


async def test_a_protected_file_that_came_after_the_start_is_found(sandboxes: SandboxFactory) -> None:
    project = sandboxes.vault.root / "Projects/one"
    sandbox = await sandboxes.make(project)
    assert sandbox.shell("echo up") == "up\n"
    (project / ".envrc").write_text("an order")
    found = differing(await sandboxes.service.opened.explain(session_of(sandbox)))
    assert found.keys() == {"/vault/Projects/one/.envrc"}
    assert "not mounted" in found["/vault/Projects/one/.envrc"]


MakeBoxes = Callable[..., SandboxFactory]


@pytest.fixture
def make_sandboxes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeBoxes]:
    """Sandboxes of a computer that finds other programs first."""
    programs = tmp_path / "bin"
    programs.mkdir()
    running = []

    def make(name: str, text: str, **environment: str) -> SandboxFactory:
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        for variable, value in environment.items():
            monkeypatch.setenv(variable, value)
        context = launcher()
        running.append(context)
        return SandboxFactory(context.__enter__())

    yield make
    for context in running:
        context.__exit__(None, None, None)


@pytest.mark.long
@pytest.mark.parametrize(
    ("left_out", "names"),
    [
        (
            "--unshare-net",
            {
                "namespaces",
                "network",
                "127.0.0.1 of this machine",
                "abstract sockets of this machine",
            },
        ),
        ("--unshare-ipc", {"namespaces"}),
        ("--remount-ro", {"system files", "other places"}),
    ],
)
async def test_a_bubblewrap_that_leaves_something_out_is_found(
    make_sandboxes: MakeBoxes, left_out: str, names: set[str]
) -> None:
    program = f"""#!{sys.executable} -IS
import os, sys
arguments, kept = sys.argv[1:], []
while arguments:
    argument = arguments.pop(0)
    if argument == "{left_out}":
        if argument == "--remount-ro":
            arguments.pop(0)
        continue
    kept.append(argument)
os.execv("{shutil.which("bwrap")}", ["bwrap", *kept])
"""
    sandboxes = make_sandboxes("bwrap", program)
    found = differing(await sandboxes.service.opened.explain(session_of(await sandboxes.make())))
    assert found.keys() - OF_THIS_MACHINE == names


async def test_a_sandbox_that_is_closed_during_the_look_says_so(make_sandboxes: MakeBoxes, tmp_path: Path) -> None:
    holding = Holding(tmp_path)
    sandboxes = make_sandboxes("bwrap", holding.program)
    opened = sandboxes.service.opened
    session = (await sandboxes.prepare()).agent_socket.parent.name
    holding.begin()
    looking = asyncio.create_task(opened.explain(session))
    await holding.reached()
    await opened.close(session)
    with pytest.raises(ClosedMeanwhile):
        await looking
    assert not opened.is_open(session)
    assert opened.take_differences(session) == ()
    with pytest.raises(ClosedMeanwhile):
        await opened.explain(session)


@pytest.fixture
def containers(
    make_sandboxes: MakeBoxes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], SandboxFactory]:
    """Sandboxes in containers of a Podman that ignores some of what it is asked."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)  # root has no containers, and tests may run as root

    def make(ignored: str) -> SandboxFactory:
        (tmp_path / "recipe").write_text(RECIPE)
        program = f"#!/bin/sh\ncd {ROOT} && exec env FAKE_PODMAN_FOLDER={tmp_path} FAKE_PODMAN_IGNORES={ignored} \\\n"
        program += f'PYTHONPATH={ROOT}:{ROOT}/sandbox {sys.executable} -m tests.sandbox.engines.fake_podman "$@"\n'
        monkeypatch.setenv("PARACHUTE_SANDBOX__LIMITS", "unavailable")
        sandboxes = make_sandboxes("podman", program)
        image = Image("a" * 64, "localhost/parachute-sandbox:x", RECIPE, "2026-01-01T00:00:00.000Z", 1)
        image.save(sandboxes.launcher.home.root)
        sandboxes.service = sandboxes.make_service(limits="unavailable")
        return sandboxes

    return make


async def test_a_podman_that_does_as_it_is_told_is_believed(containers: Callable[[str], SandboxFactory]) -> None:
    sandboxes = containers("")
    sandbox = await sandboxes.make(sandboxes.vault.root / "Projects/one")
    found = await sandboxes.service.opened.explain(session_of(sandbox))
    assert found.engine == "podman"
    assert differing(found) == {}
    assert row(found, "network")["engine"] == "none"
    assert row(found, "image")["inside"] == f"recipe {RECIPE[:12]}"
    assert row(found, "memory")["asked"] == "not bounded, as the settings say"


@pytest.mark.long
@pytest.mark.parametrize(
    ("ignored", "names"),
    [
        (
            "network",
            {"namespaces", "network", "127.0.0.1 of this machine", "abstract sockets of this machine"},
        ),
        ("read-only", {"system files", "other places"}),
    ],
)
async def test_a_podman_that_ignores_what_it_records_is_found(
    containers: Callable[[str], SandboxFactory], ignored: str, names: set[str]
) -> None:
    sandboxes = containers(ignored)
    found = await sandboxes.service.opened.explain(session_of(await sandboxes.make()))
    assert differing(found).keys() - OF_THIS_MACHINE == names
    if ignored == "network":
        assert row(found, "network")["engine"].startswith("none, but the kernel: this machine's own")
        assert row(found, "127.0.0.1 of this machine")["inside"] == "done"
        assert row(found, "127.0.0.1 of this machine")["engine"] == "somebody came"
    assert msgspec.json.encode(found)
