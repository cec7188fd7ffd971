"""Installations that are killed, and two at the same time: real processes."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from parachute.modules.registry.models import State
from parachute.modules.registry.service import Modules

from .building import Repository, names, needing, write_module, write_wheel

# Some hundred installations take minutes on a machine that does something else, too.
pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


@contextmanager
def program(name: str, *arguments: str | Path) -> Iterator["subprocess.Popen[str]"]:
    """One of the programs beside this file."""
    command = [sys.executable, "-m", f"tests.modules.registry.{name}", *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: "subprocess.Popen[str]", beginning: str) -> list[str]:
    """Lines up to the first that begins so."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line.rstrip())
        if line.startswith(beginning):
            return lines
    raise AssertionError(f"{beginning!r} did not come: {lines}, {process.stderr and process.stderr.read()}")


def test_a_crash_at_any_change_of_a_file_is_cleaned_up(modules: Modules, tmp_path: Path) -> None:
    source = write_module(tmp_path / "source")
    arguments = (modules.places.home.root, modules.places.vault, source)
    with program("crashing", *arguments) as process:
        out, err = process.communicate()
    assert process.returncode == 0, err
    found = json.loads(out)
    new = [step for step in found if not step["update"]]
    update = [step for step in found if step["update"]]
    assert min(len(new), len(update)) > 10
    for step in found:
        assert step["others"] == [], step
        assert step["states"] in ([], ["ready"]), step
        # What lies in the vault is what runs, and nothing else lies there.
        assert step["vault"] == ["hello"] * len(step["states"]), step
        assert len(step["copies"]) == len(step["states"]), step
        assert step["is_new"] == step["runs_new"], step
    # The registry decides: before it is written nothing has happened, and after it everything has.
    assert [bool(step["states"]) for step in new] == sorted(bool(step["states"]) for step in new)
    assert [bool(new[0]["states"]), bool(new[-1]["states"])] == [False, True]
    assert [step["runs_new"] for step in update] == sorted(step["runs_new"] for step in update)
    assert [update[0]["runs_new"], update[-1]["runs_new"]] == [False, True]


@pytest.mark.parametrize("stop", ["Cloning", "Validating", "Resolving", "Installing", "Computing"])
def test_an_installation_that_is_killed_leaves_nothing_and_can_be_repeated(
    modules: Modules, tmp_path: Path, stop: str, wheels: Path
) -> None:
    repository = Repository(tmp_path / "repository")
    write_module(repository.folder)
    repository.commit()
    if stop in ("Resolving", "Installing"):
        write_wheel(wheels, "greeting")
        write_module(repository.folder, more=needing("greeting"))
        repository.commit()
    arguments = (modules.places.home.root, modules.places.vault, repository.url)
    with program("installing", *arguments, stop) as process:
        read_until(process, stop)
        assert any(path.name.startswith(".staging-") for path in modules.places.copies.iterdir())
        process.kill()
    assert modules.list() == []
    modules.recover()
    assert names(modules.places.copies) == [".lock"]
    if modules.places.sources.exists():
        assert names(modules.places.sources) == []


def test_what_an_installation_started_ends_with_it(modules: Modules, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/module.git"
        with program("installing", modules.places.home.root, modules.places.vault, address) as process:
            read_until(process, "Cloning")
            silent.settimeout(60)
            connection, _ = silent.accept()
            with connection:
                process.kill()
                # The far end is closed when git is gone.
                connection.settimeout(60)
                with suppress(ConnectionResetError):
                    while connection.recv(65536):
                        pass


def test_the_second_waits_for_the_first(modules: Modules, tmp_path: Path) -> None:
    places = (modules.places.home.root, modules.places.vault)
    one, two = write_module(tmp_path / "one", "one"), write_module(tmp_path / "two", "two")
    with ExitStack() as stack:
        first = stack.enter_context(modules.installing(str(one)))
        with program("installing", *places, two) as second:
            assert read_until(second, "Waiting") == ["Waiting for another installation to end..."]
            first.finish()
            stack.close()
            assert read_until(second, "done")
    assert [(status.name, status.state) for status in modules.list()] == [("one", State.READY), ("two", State.READY)]


def test_many_at_once_all_come_in(modules: Modules, tmp_path: Path) -> None:
    places = (modules.places.home.root, modules.places.vault)
    sources = [write_module(tmp_path / name, name) for name in ("one", "two", "three")]
    with (
        program("installing", *places, sources[0]) as first,
        program("installing", *places, sources[1]) as second,
        program("installing", *places, sources[2]) as third,
    ):
        for process in (first, second, third):
            assert read_until(process, "done")
    assert [status.name for status in modules.list()] == ["one", "three", "two"]
    assert {status.state for status in modules.list()} == {State.READY}
