"""Modules that are fetched and shown first: what was seen is what is installed, and nothing else is left."""

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from parachute.base.errors import Conflict, InvalidInput, NotFound, ParachuteError
from parachute.config.settings.home import Home
from parachute.modules.registry.models import Trust
from parachute.modules.registry.service import Modules
from parachute.modules.registry.staged import MOST, StagedModule, StagedModules
from parachute.modules.trees.models import Limits
from tests.support.waiting import wait_until

from .building import Repository, needing, write_module, write_wheel
from .steps import install

pytestmark = pytest.mark.process


@pytest.fixture
def staged(modules: Modules) -> StagedModules:
    """Return the staged modules of that computer."""
    return StagedModules(modules)


def waiting(staged: StagedModules, source: Path | str, **options: Any) -> StagedModule:
    """Stage, and wait until it has been fetched."""
    found = staged.stage(str(source), **options)
    wait_until(lambda: found.status != "fetching", "it has been fetched")
    return found


def left(modules: Modules) -> list[str]:
    """Return the files among the copies of modules that are none."""
    return sorted(path.name for path in modules.places.copies.glob(".*") if path.name != ".lock")


def test_a_repository_is_fetched_shown_and_installed(staged: StagedModules, modules: Modules, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "books.git")
    write_module(repository.folder, "books", more="permissions: {read: [Books/**]}\n")
    repository.commit()
    found = waiting(staged, repository.url)
    assert (found.status, found.error) == ("waiting", None)
    assert found.steps[0].startswith("Cloning books")
    assert found.shown is not None
    assert (found.shown.name, found.shown.trust_level) == ("books", "trusted")
    assert "Read: Books/**" in found.shown.text
    assert modules.list() == []
    with pytest.raises(Conflict) as refused:
        staged.approve(found.id, f"sha256:{'0' * 64}")
    assert refused.value.key == "module_changed"
    # What is approved is what was fetched then, whatever the author has written since.
    write_module(repository.folder, "books", "2.0.0", more="permissions: {write: ['**']}\n")
    repository.commit()
    assert staged.approve(found.id, str(found.hash)) == "books"
    module = modules.runnable("books").module
    assert (module.hash, module.version, module.source) == (found.hash, "1.0.0", repository.url)
    assert left(modules) == []
    with pytest.raises(Conflict):
        staged.approve(found.id, str(found.hash))
    update = waiting(staged, repository.url)
    assert update.shown is not None
    assert update.shown.changes
    assert update.shown.changes.added
    assert {file.path for file in update.shown.files} == {"manifest.yaml", "module.py"}
    staged.approve(update.id, str(update.hash))
    assert modules.status("books").version == "2.0.0"


@pytest.mark.long
def test_packages_are_unpacked_after_the_approval(
    staged: StagedModules, modules: Modules, tmp_path: Path, wheels: Path
) -> None:
    write_wheel(wheels, "paper", "1.0")
    found = waiting(staged, write_module(tmp_path / "books", "books", more=needing("paper")))
    assert found.shown is not None
    assert [package.version for package in found.shown.packages] == ["1.0"]
    (folder,) = modules.places.copies.glob(".waiting-*")
    assert not (folder / "version" / "packages").exists()
    # A later version of it is none that anybody saw.
    write_wheel(wheels, "paper", "2.0")
    staged.approve(found.id, str(found.hash))
    packages = modules.runnable("books").packages
    assert [path.name for path in packages.glob("paper-*")] == ["paper-1.0.dist-info"]


def test_what_waits_survives_a_restart_and_what_was_cut_off_does_not(
    staged: StagedModules, modules: Modules, source: Path, home: Home, vault: Path
) -> None:
    found = waiting(staged, source, untrusted=True)
    half = modules.places.copies / ".waiting-0123456789ab"
    half.mkdir()
    (half / "source").mkdir()
    (modules.places.copies / ".waiting-..").mkdir()
    later = StagedModules(Modules(home, vault, Limits(wait_seconds=0)))
    (again,) = later.list()
    assert again.answer() == replace(found.answer(), detail="")
    assert left(modules) == [f".waiting-{found.id}"]
    later.approve(again.id, str(again.hash))
    assert modules.status("hello").trust_level is Trust.UNTRUSTED


@pytest.mark.parametrize("place", ["version/code/module.py", "source/module.py"])
def test_what_was_changed_since_is_not_installed(
    staged: StagedModules, modules: Modules, source: Path, place: str
) -> None:
    found = waiting(staged, source)
    (file,) = modules.places.copies.glob(f".waiting-*/{place}")
    file.chmod(0o600)
    file.write_text(file.read_text() + "\nsteal()\n")
    with pytest.raises(ParachuteError):
        staged.approve(found.id, str(found.hash))
    assert modules.list() == []
    assert left(modules) == []
    assert staged.get(found.id).status == "failed"


def test_an_approval_holds_for_the_computer_as_it_was(staged: StagedModules, modules: Modules, source: Path) -> None:
    found = waiting(staged, source)
    write_module(source, version="1.1.0")
    install(modules, source)
    with pytest.raises(Conflict) as refused:
        staged.approve(found.id, str(found.hash))
    assert refused.value.key == "module_changed"
    assert modules.status("hello").version == "1.1.0"


def test_while_another_program_changes_modules_it_waits_on(
    staged: StagedModules, modules: Modules, source: Path, hello: Path
) -> None:
    write_module(source, version="1.1.0")
    found = waiting(staged, source)
    with modules.approving("hello"), pytest.raises(Conflict) as refused:
        staged.approve(found.id, str(found.hash))
    assert (refused.value.key, found.status) == ("modules_busy", "waiting")
    staged.approve(found.id, str(found.hash))
    assert modules.status("hello").version == "1.1.0"


def test_a_deleted_one_leaves_nothing(staged: StagedModules, modules: Modules, source: Path) -> None:
    found = waiting(staged, source)
    staged.delete(found.id)
    assert left(modules) == []
    with pytest.raises(NotFound):
        staged.get(found.id)
    # Also while it is being fetched: from a pipe nothing ever comes.
    write_module(source)
    half = staged.stage(str(source))
    staged.delete(half.id)
    wait_until(lambda: left(modules) == [], "nothing of it is left")
    assert staged.list() == []


def test_there_are_not_more_than_a_few_and_not_for_long(staged: StagedModules, modules: Modules, source: Path) -> None:
    found = [waiting(staged, source) for _ in range(MOST)]
    with pytest.raises(Conflict) as refused:
        staged.stage(str(source))
    assert refused.value.key == "too_many_staged"
    for each in found:
        each.until = 0
    assert staged.list() == []
    assert left(modules) == []


def test_hostile_sources_leave_a_sentence_and_nothing_else(
    staged: StagedModules, modules: Modules, source: Path, tmp_path: Path
) -> None:
    (source / "link").symlink_to("/etc/passwd")
    pipe = write_module(tmp_path / "pipe")
    os.mkfifo(pipe / "pipe")
    wrong = write_module(tmp_path / "wrong", more="agents: {a: {sandbox: null}}\n")
    for folder in (source, pipe, wrong, tmp_path):
        found = waiting(staged, folder)
        assert found.status == "failed"
        assert found.error
        assert found.hash is None
        staged.delete(found.id)
    assert left(modules) == []
    assert modules.list() == []


@pytest.mark.parametrize(
    "source", ["books", "../books", "http://example.org/books", "https://a:b@example.org/x", "-x", "ext::sh -c x"]
)
def test_what_is_no_source_is_refused_at_once(staged: StagedModules, source: str) -> None:
    with pytest.raises((InvalidInput, NotFound)):
        staged.stage(source)
    assert staged.list() == []
