"""Choice of the engine, with a Podman that is a program of the test's."""

import asyncio
import os
from pathlib import Path

import pytest

from parachute.base.errors import Unavailable
from parachute.config.settings.groups.sandbox import SandboxSettings
from parachute.config.settings.home import Home
from parachute.sandbox.engines.engines import Choice, Engines, try_views
from parachute.sandbox.image.models import Image
from tests.sandbox.engines.conftest import needs_bubblewrap

pytestmark = pytest.mark.process


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create the first folder of PATH, for an ordinary user."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An installation."""
    root = tmp_path / "home"
    root.mkdir(mode=0o700)
    return Home(root)


def program(path: Path, script: str) -> None:
    """An executable shell script."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def image(home: Home, letter: str = "a") -> Image:
    """Remember an image."""
    made = Image(letter * 64, "localhost/parachute-sandbox:x", "x", "2026-01-01T00:00:00.000Z", 1)
    made.save(home.root)
    return made


async def choose(home: Home, engine: str = "auto") -> Choice:
    """The engine that is taken first."""
    return await Engines(home, SandboxSettings.model_validate({"engine": engine})).choose()


async def test_podman_is_taken_when_a_container_of_its_image_is_shut_in(home: Home, bin_folder: Path) -> None:
    program(bin_folder / "podman", f'echo "$@" >> {bin_folder}/calls')
    made = image(home)
    assert await choose(home) == Choice("podman", image=made)
    asked, run, listed = (bin_folder / "calls").read_text().splitlines()
    assert asked == "info --format={{.Store.GraphDriverName}}"
    assert run.startswith("run ")
    assert f" {made.id} /usr/bin/python3 -IS /opt/parachute/parachute_runner/probe.py --limits" in run
    label = f"--filter=label=org.parachute.installation={home.installation}"
    assert listed == f"ps --all --no-trunc --format={{{{.ID}}}} {{{{.Names}}}} {label}"


async def test_podman_that_stores_images_with_vfs_is_not_taken(home: Home, bin_folder: Path) -> None:
    program(bin_folder / "podman", f'echo "$1" >> {bin_folder}/calls; [ "$1" != info ] || echo vfs')
    image(home)
    found = await choose(home, "podman")
    assert (found.engine, found.reason) == (
        None,
        "Podman stores images with vfs, and would copy the whole image for each conversation.",
    )
    assert (bin_folder / "calls").read_text().split() == ["info"]


@needs_bubblewrap
@pytest.mark.parametrize("engine", ["auto", "podman"])
async def test_what_is_wrong_with_podman_is_a_sentence(home: Home, bin_folder: Path, engine: str) -> None:
    program(bin_folder / "podman", "exit 0")
    sentences = []
    found = await choose(home, engine)
    sentences.append(found.reason or found.passed_over)
    image(home)
    program(bin_folder / "podman", "echo 'in the container there are rights (CapEff)'; echo noise >&2; exit 1")
    found = await choose(home, engine)
    sentences.append(found.reason or found.passed_over)
    program(bin_folder / "podman", "echo 'Error: no subuids' >&2; exit 125")
    found = await choose(home, engine)
    sentences.append(found.reason or found.passed_over)
    assert sentences == [
        "No container image yet; `parachute sandbox build` makes it.",
        "Podman may not be used here: in the container there are rights (CapEff).",
        "Podman may not be used here: Error: no subuids.",
    ]
    assert (found.engine, bool(found.hint)) == (("bubblewrap", False) if engine == "auto" else (None, True))


@needs_bubblewrap
async def test_who_asks_for_podman_gets_nothing_else(
    home: Home, bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(bin_folder / "podman", "exit 0")
    image(home)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    found = await choose(home, "podman")
    assert (found.engine, found.reason) == (None, "Containers of agents are never started by root.")
    assert (await choose(home)).engine == "bubblewrap"
    assert (await choose(home, "bubblewrap")) == Choice("bubblewrap")


async def test_a_podman_that_cannot_be_tried_is_no_reason_to_go_without(
    home: Home, bin_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(bin_folder))
    (bin_folder / "podman").write_bytes(b"no program")
    (bin_folder / "podman").chmod(0o755)
    image(home)
    with pytest.raises(Unavailable) as caught:
        await choose(home, "podman")
    assert caught.value.key == "no_sandbox"


@needs_bubblewrap
async def test_an_image_that_is_built_later_is_noticed_and_tried_once(home: Home, bin_folder: Path) -> None:
    program(bin_folder / "podman", f'echo "$1" >> {bin_folder}/calls')
    engines = Engines(home, SandboxSettings())
    assert (await engines.choose()).engine == "bubblewrap"
    made = image(home)
    assert (await engines.choose()) == (await engines.choose()) == Choice("podman", image=made)
    renewed = image(home, "b")
    assert (await engines.choose()).image == renewed
    # What runs from the image before belongs to this very core: it is not swept away.
    assert (bin_folder / "calls").read_text().split() == ["info", "run", "ps", "info", "run"]


@needs_bubblewrap
@pytest.mark.usefixtures("views_work")
async def test_conversations_that_begin_at_once_all_have_views(home: Home) -> None:
    for _ in range(5):
        engines = Engines(home, SandboxSettings.model_validate({"engine": "bubblewrap"}))
        assert set(await asyncio.gather(*(engines.no_views() for _ in range(8)))) == {None}


@needs_bubblewrap
@pytest.mark.usefixtures("views_work")
async def test_several_programs_that_try_views_at_once_agree(home: Home) -> None:
    settings = SandboxSettings()
    tries = [asyncio.to_thread(try_views, home, settings, None) for _ in range(6)]
    assert set(await asyncio.gather(*tries)) == {None}


@needs_bubblewrap
@pytest.mark.usefixtures("views_work")
async def test_views_that_worked_are_tried_anew_until_they_work_again(home: Home) -> None:
    settings = SandboxSettings.model_validate({"engine": "bubblewrap"})
    engines, broken = Engines(home, settings), home.views / ".tried"
    broken.touch()
    assert await engines.no_views() is not None
    broken.unlink()
    assert await engines.no_views() is not None, "it is found out once"
    engines.note_views()
    assert await engines.no_views() is None
