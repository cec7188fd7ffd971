"""Installing, updating, approving and removing modules, in a real home and a real vault."""

import os
import shutil
import stat
from pathlib import Path

import pytest

from parachute.base.errors import Conflict, NotFound
from parachute.config.settings.home import Home
from parachute.modules.manifest.loading import ManifestInvalid
from parachute.modules.registry.models import State, Trust
from parachute.modules.registry.names import NameNotAllowed
from parachute.modules.registry.service import Modules
from parachute.modules.trees.tree import TreeNotAllowed
from tests.support.errors import raises

from .building import Repository, deep_folder, everything, names, needing, write_module
from .steps import approve, install, state

pytestmark = pytest.mark.process


def test_a_module_from_a_repository_becomes_runnable(modules: Modules, tmp_path: Path, home: Home, vault: Path) -> None:
    repository = Repository(tmp_path / "repository")
    write_module(repository.folder / "python", more="permissions:\n  write:\n    - Notes/**\n")
    repository.commit()
    install(modules, repository.url, subfolder="python/")
    module = modules.registry.module("hello")
    assert (module.source, module.path, module.version, module.trust) == (repository.url, "python/", "1.0.0", "trusted")
    assert module.permissions is not None
    assert module.permissions["write"] == ["Notes/**"]
    runnable = modules.runnable("hello")
    assert everything(runnable.code) == everything(vault / ".modules/hello") == {"manifest.yaml", "module.py"}
    assert runnable.code.is_relative_to(home.root)
    assert stat.S_IMODE((runnable.code / "module.py").stat().st_mode) == 0o444
    assert os.access(vault / ".modules/hello/module.py", os.W_OK)
    assert list(runnable.packages.iterdir()) == []
    # Nothing is left of how it came here.
    assert names(modules.places.copies) == [".lock", "hello"]
    assert names(vault / ".modules") == ["hello"]


def test_nothing_is_changed_without_a_yes(modules: Modules, source: Path, vault: Path) -> None:
    with modules.installing(str(source)) as installation:
        assert "nothing in the vault" in installation.question.as_text()
        assert not modules.places.registry.exists()
        assert names(vault / ".modules") == []
    assert modules.list() == []
    assert names(modules.places.copies) == [".lock"]


@pytest.mark.parametrize(
    ("change", "key", "names_it"),
    [
        ({"manifest.yaml": "name: hello\n"}, "manifest_invalid", "version"),
        ({"module.py": "x = 1\n"}, "no_class", "module"),
        ({"module.py": "def f(:\n"}, "not_python", r"module\.py, line 1"),
        ({"module.py": None}, "no_file", r"module\.py"),
        ({"manifest.yaml": None}, "no_manifest", r"manifest\.yaml"),
        ({"tools.pyc": "x"}, "compiled_python", r"tools\.pyc"),
    ],
)
def test_a_bad_module_is_refused_and_leaves_nothing(
    modules: Modules, source: Path, vault: Path, change: dict[str, str | None], key: str, names_it: str
) -> None:
    for path, text in change.items():
        if text is None:
            (source / path).unlink()
        else:
            (source / path).write_text(text)
    with raises(key, names=names_it):
        install(modules, source)
    assert not (vault / ".modules/hello").exists()
    assert names(modules.places.copies) == [".lock"]


@pytest.mark.parametrize("name", ["json", "email", "modules", "supervisor", "claude-code", "parachute", "core"])
def test_names_that_mean_something_else_are_refused(modules: Modules, tmp_path: Path, name: str) -> None:
    with pytest.raises((NameNotAllowed, ManifestInvalid), match="name"):
        install(modules, write_module(tmp_path / "m", name))
    assert modules.list() == []


def test_nothing_of_a_module_runs_before_it_is_approved(modules: Modules, tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    trace = f"open({str(touched)!r}, 'w')\n"
    source = write_module(tmp_path / "m", files={"setup.py": trace, "conftest.py": trace, "sitecustomize.py": trace})
    (source / "module.py").write_text(trace + (source / "module.py").read_text())
    install(modules, source)
    modules.runnable("hello")
    assert not touched.exists()


def test_a_name_is_taken_once(modules: Modules, hello: Path, tmp_path: Path) -> None:
    before = modules.places.registry.read_text()
    with pytest.raises(Conflict) as refused:
        install(modules, write_module(tmp_path / "other", version="2.0.0"))
    assert refused.value.key == "name_taken"
    assert modules.places.registry.read_text() == before
    assert "1.0.0" in (hello / "manifest.yaml").read_text()


def test_a_folder_of_the_vault_that_nobody_installed_is_not_overwritten(
    modules: Modules, source: Path, vault: Path
) -> None:
    write_module(vault / ".modules/hello", version="0.1.0")
    with raises("already_there"):
        install(modules, source)
    found = modules.list()
    assert [(status.name, status.state) for status in found] == [("hello", State.NOT_INSTALLED)]
    with pytest.raises(NotFound):
        modules.runnable("hello")
    # A vault that was carried here: the user looks at what is in it, and approves that.
    install(modules, vault / ".modules/hello")
    assert state(modules) is State.READY
    assert modules.runnable("hello").module.version == "0.1.0"


def test_an_update_comes_from_the_same_source_and_shows_what_changes(
    modules: Modules, hello: Path, source: Path
) -> None:
    first = modules.runnable("hello").code
    with modules.installing(str(source)) as same:
        assert same.is_unchanged
    write_module(source, version="1.1.0", more="permissions:\n  network:\n    - api.example.org\n")
    with modules.installing(str(source)) as installation:
        text = installation.question.as_text()
        assert "hello 1.0.0 -> 1.1.0" in text
        assert "+ Network: Reach api.example.org" in text
        assert "Process" not in text
        assert installation.question.difference().added == ("Network: Reach api.example.org",)  # type: ignore[union-attr]
        installation.finish()
    assert modules.runnable("hello").module.version == "1.1.0"
    assert "1.1.0" in (hello / "manifest.yaml").read_text()
    assert names(hello.parent) == ["hello"]
    assert not first.exists()


def test_an_update_does_not_overwrite_the_users_own_changes(modules: Modules, hello: Path, source: Path) -> None:
    (hello / "module.py").write_text((hello / "module.py").read_text() + "# mine\n")
    write_module(source, version="1.1.0")
    with raises("changed_here"):
        install(modules, source)
    assert "# mine" in (hello / "module.py").read_text()


def test_a_copy_that_a_unit_was_started_with_stays_until_it_is_told_another(
    modules: Modules, hello: Path, source: Path
) -> None:
    runnable = modules.runnable("hello")
    specification = modules.places.specification("hello")
    specification.parent.mkdir(parents=True)
    specification.write_text(f'{{"hash": "{runnable.module.hash}"}}')
    write_module(source, version="1.1.0")
    install(modules, source)
    assert (runnable.code / "module.py").exists()
    specification.write_text(f'{{"hash": "{modules.registry.module("hello").hash}"}}')
    modules.recover()
    assert not runnable.code.exists()


def test_dependencies_that_cannot_be_had_leave_nothing(
    modules: Modules, tmp_path: Path, wheels: Path, vault: Path
) -> None:
    with raises("dependencies_failed", names="nothing-like-this"):
        install(modules, write_module(tmp_path / "m", more=needing("nothing-like-this")))
    assert modules.list() == []
    assert names(vault / ".modules") == []
    assert names(modules.places.copies) == [".lock"]


def test_disabled_modules_do_not_start(modules: Modules, hello: Path) -> None:
    assert modules.disable("hello").state is State.DISABLED
    with pytest.raises(Conflict) as refused:
        modules.runnable("hello")
    assert refused.value.key == "module_disabled"
    assert modules.enable("hello").state is State.READY
    modules.runnable("hello")
    with pytest.raises(NotFound):
        modules.enable("nothing")


def test_an_update_of_a_disabled_module_leaves_it_disabled(modules: Modules, hello: Path, source: Path) -> None:
    modules.disable("hello")
    write_module(source, version="1.1.0")
    install(modules, source)
    assert state(modules) is State.DISABLED


def test_a_removal_keeps_what_was_written(modules: Modules, hello: Path, vault: Path) -> None:
    (vault / "Hello").mkdir()
    (vault / "Hello/note.md").write_text("kept")
    data = modules.places.data("hello")
    data.mkdir(parents=True)
    (data / "storage.db").write_text("kept")
    with modules.removing("hello") as module:
        # While what runs of it is ended, its files are still there.
        assert module.name == "hello"
        assert modules.list()[0].state is State.NOT_INSTALLED
        assert hello.is_dir()
    assert modules.list() == []
    assert not hello.exists()
    assert not (modules.places.copies / "hello").exists()
    assert (vault / "Hello/note.md").read_text() == "kept"
    assert (data / "storage.db").read_text() == "kept"


def test_a_removal_with_purge_removes_private_data_only(modules: Modules, hello: Path, vault: Path) -> None:
    (vault / "Hello").mkdir()
    modules.places.data("hello").mkdir(parents=True)
    with modules.removing("hello", purge=True):
        pass
    assert not modules.places.data("hello").exists()
    assert (vault / "Hello").is_dir()


def test_the_source_may_be_gone(modules: Modules, hello: Path) -> None:
    for path in hello.iterdir():
        path.unlink()
    hello.rmdir()
    assert state(modules) is State.MISSING
    with raises("approval_pending"):
        modules.runnable("hello")
    with raises("no_folder"):
        approve(modules)
    with modules.removing("hello"):
        pass
    assert modules.list() == []


def test_an_untrusted_module_stays_untrusted(modules: Modules, source: Path) -> None:
    installation = install(modules, source, untrusted=True)
    assert "it gets only its own folder" in installation.question.as_text()
    (modules.places.source("hello") / "new.py").write_text("")
    approve(modules)
    assert modules.runnable("hello").module.trust is Trust.UNTRUSTED
    write_module(modules.places.source("hello"), version="1.1.0")
    approve(modules)
    assert modules.registry.module("hello").trust is Trust.UNTRUSTED
    # Naming the folder in the vault is an approval of what is in it; where it came from stays known.
    (modules.places.source("hello") / "more.py").write_text("")
    again = install(modules, modules.places.source("hello"))
    assert (again.module.trust, again.module.source) == (Trust.UNTRUSTED, str(source))


def test_two_modules_cannot_offer_the_same_tool(modules: Modules, tmp_path: Path) -> None:
    tools = "mcp_tools:\n  - name: search\n    description: Find\n    handler: module:search\n"
    install(modules, write_module(tmp_path / "one", "one", more=tools))
    install(modules, write_module(tmp_path / "one", "one", version="1.1.0", more=tools))
    for options in ({}, {"dev": True}):
        with raises("tool_taken", names="one .*search"):
            install(modules, write_module(tmp_path / "two", "two", more=tools), **options)


def test_a_vault_that_cannot_be_written_leaves_nothing(modules: Modules, source: Path, vault: Path) -> None:
    (source / "deep").mkdir()
    (source / "deep/file.py").write_text("")
    (vault / ".modules").mkdir()
    with modules.installing(str(source)) as installation:
        # A file of the installation that has gone: the copy into the vault breaks off in the middle.
        (installation.staging.files / "deep/file.py").unlink()
        (installation.staging.files / "deep/file.py").symlink_to("/nonexistent")
        (installation.staging.files / "module.py").chmod(0o000)
        os.mkfifo(installation.staging.files / "pipe")
        with pytest.raises(TreeNotAllowed):
            installation.finish()
    assert names(vault / ".modules") == []
    assert names(modules.places.copies) == [".lock"]
    assert modules.list() == []


def test_a_module_runs_in_place_only_from_outside_of_the_vault(
    modules: Modules, source: Path, vault: Path, home: Home
) -> None:
    for folder in (write_module(vault / "Projects/hello"), write_module(home.root / "hello")):
        with raises("dev_in_vault"):
            install(modules, folder, dev=True)
    (vault / "link").symlink_to(source)
    link = source.parent / "link"
    link.symlink_to(vault / "Projects/hello")
    with raises("dev_in_vault"):
        install(modules, link, dev=True)
    with raises("not_a_folder"):
        install(modules, "https://example.org/x", dev=True)
    installation = install(modules, source, dev=True)
    assert "runs in place" in installation.question.as_text()
    (source / "module.py").write_text((source / "module.py").read_text() + "# changed\n")
    runnable = modules.runnable("hello")
    assert (runnable.code, runnable.module.dev) == (source, source)
    assert modules.status("hello").dev
    with raises("runs_in_place"):
        approve(modules)
    with modules.removing("hello"):
        pass
    assert (source / "module.py").exists()


def test_a_link_in_the_place_of_the_sources_is_not_followed(
    modules: Modules, source: Path, vault: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (vault / ".modules").symlink_to(tmp_path / "elsewhere")
    with raises("not_a_folder"):
        install(modules, source)
    assert names(tmp_path / "elsewhere") == []
    assert modules.list() == []


def test_no_module_starts_with_a_list_that_cannot_be_read(modules: Modules, hello: Path, source: Path) -> None:
    text = modules.places.registry.read_text()
    modules.places.registry.write_text(text[:-40])
    for attempt in (modules.list, lambda: modules.runnable("hello"), lambda: install(modules, source)):
        with raises("registry_unreadable", names=r"modules\.yaml, line \d+"):
            attempt()
    assert (modules.places.copies / "hello").is_dir()
    modules.places.registry.write_text(text)
    modules.runnable("hello")


def test_two_installations_do_not_mix(modules: Modules, source: Path, tmp_path: Path) -> None:
    with modules.installing(str(source)) as first:
        with pytest.raises(Conflict) as refused, modules.installing(str(source)):
            pass
        assert refused.value.key == "modules_busy"
        first.finish()
    assert state(modules) is State.READY


def test_what_lies_in_the_vault_as_if_it_were_ours_keeps_nothing_from_starting(
    modules: Modules, hello: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/kept").write_text("")
    left = hello.parent / ".incoming-0123456789ab"
    with deep_folder(left / "deep", 2_000):
        (left / "link").symlink_to(tmp_path / "elsewhere")
        (hello.parent / ".incoming-link").symlink_to(tmp_path / "elsewhere")
        assert modules.recover()
        assert names(hello.parent) == ["hello"]
    assert names(tmp_path / "elsewhere") == ["kept"]


def test_what_is_behind_a_link_in_the_place_of_the_sources_is_not_cleaned_up(
    modules: Modules, vault: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere/.incoming-mine").mkdir(parents=True)
    (vault / ".modules").symlink_to(tmp_path / "elsewhere")
    assert modules.recover()
    assert names(tmp_path / "elsewhere") == [".incoming-mine"]


def test_a_list_makes_no_folder(modules: Modules, hello: Path, home: Home) -> None:
    shutil.rmtree(home.root / "modules")
    assert [status.state for status in modules.list()] == [State.DAMAGED]
    assert not (home.root / "modules").exists()
