"""Installing, updating, approving and removing modules, in a real home and a real vault."""

import os
import stat
from pathlib import Path

import pytest

from parachute.errors import Conflict, InvalidInput, NotFound, ParachuteError
from parachute.manifest import ManifestInvalid
from parachute.modules.document import RegistryUnreadable
from parachute.modules.installation import Installation
from parachute.modules.models import State, Trust
from parachute.modules.names import NameNotAllowed
from parachute.modules.service import Modules, NotApproved
from parachute.modules.tree import TreeNotAllowed
from parachute.modules.verification import Damaged
from parachute.settings.home import Home

from .building import Repository, everything, names, needing, write_module, write_wheel


def install(modules: Modules, source: Path | str, **options: object) -> Installation:
    """Install and say yes."""
    with modules.installing(str(source), **options) as installation:  # type: ignore[arg-type]
        installation.finish()
        return installation


def approve(modules: Modules, name: str = "hello") -> Installation:
    """Approve and say yes."""
    with modules.approving(name) as installation:
        installation.finish()
        return installation


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with a module."""
    return write_module(tmp_path / "source")


@pytest.fixture
def hello(modules: Modules, source: Path) -> Path:
    """The folder in the vault of the installed module `hello`."""
    install(modules, source)
    return modules.places.source("hello")


def state(modules: Modules, name: str = "hello") -> State:
    """The state of a module."""
    return modules.status(name).state


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
    ("change", "error", "said"),
    [
        ({"manifest.yaml": "name: hello\n"}, ManifestInvalid, "version"),
        ({"module.py": "x = 1\n"}, InvalidInput, "no class that inherits from Module"),
        ({"module.py": "def f(:\n"}, InvalidInput, r"module\.py, line 1: this is not Python"),
        ({"module.py": None}, InvalidInput, r"no file module\.py"),
        ({"manifest.yaml": None}, NotFound, r"manifest\.yaml does not exist"),
        ({"tools.pyc": "x"}, TreeNotAllowed, "compiled"),
    ],
)
def test_a_bad_module_is_refused_and_leaves_nothing(
    modules: Modules, source: Path, vault: Path, change: dict[str, str | None], error: type[Exception], said: str
) -> None:
    for path, text in change.items():
        if text is None:
            (source / path).unlink()
        else:
            (source / path).write_text(text)
    with pytest.raises(error, match=said):
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
    with pytest.raises(Conflict, match=r"installed already, from .*source"):
        install(modules, write_module(tmp_path / "other", version="2.0.0"))
    assert modules.places.registry.read_text() == before
    assert "1.0.0" in (hello / "manifest.yaml").read_text()


def test_a_folder_of_the_vault_that_nobody_installed_is_not_overwritten(
    modules: Modules, source: Path, vault: Path
) -> None:
    write_module(vault / ".modules/hello", version="0.1.0")
    with pytest.raises(Conflict, match="not installed on this computer"):
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
        assert installation.question.as_json()["changes"]["added"] == ["Network: Reach api.example.org"]
        installation.finish()
    assert modules.runnable("hello").module.version == "1.1.0"
    assert "1.1.0" in (hello / "manifest.yaml").read_text()
    assert names(hello.parent) == ["hello"]
    assert not first.exists()


def test_an_update_does_not_overwrite_the_users_own_changes(modules: Modules, hello: Path, source: Path) -> None:
    (hello / "module.py").write_text((hello / "module.py").read_text() + "# mine\n")
    write_module(source, version="1.1.0")
    with pytest.raises(Conflict, match="changes that an update would overwrite"):
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


def test_one_byte_waits_for_approval_and_the_diff_shows_the_line(modules: Modules, hello: Path) -> None:
    (hello / "module.py").write_text((hello / "module.py").read_text().replace('"world"', '"wOrld"'))
    status = modules.status("hello")
    assert status.state is State.PENDING
    assert status.pending_hash not in (None, modules.registry.module("hello").hash)
    with pytest.raises(NotApproved, match="waits for your approval"):
        modules.runnable("hello")
    (change,) = modules.changes("hello")
    assert change.path == "module.py"
    assert '-        return {"hello": "world"}' in change.lines
    assert '+        return {"hello": "wOrld"}' in change.lines
    assert approve(modules).previous is not None
    assert state(modules) is State.READY
    assert "wOrld" in (modules.runnable("hello").code / "module.py").read_text()


def test_every_kind_of_change_is_found(modules: Modules, tmp_path: Path) -> None:
    source = write_module(
        tmp_path / "m",
        files={"prompts/agent.md": "Be kind.\n", "run.sh": "true\n", "old.txt": "x\n", "native.so": "\0a"},
    )
    install(modules, source)
    hello = modules.places.source("hello")
    (hello / "prompts/agent.md").write_text("Be cruel.\n")
    (hello / "run.sh").chmod(0o755)
    (hello / "native.so").write_bytes(b"\0b")
    (hello / "old.txt").rename(hello / "new.txt")
    (hello / "link.py").symlink_to("module.py")
    assert state(modules) is State.PENDING
    found = {change.path: (change.kind, change.note) for change in modules.changes("hello")}
    assert found == {
        "prompts/agent.md": ("changed", None),
        "run.sh": ("changed", "is executable now"),
        "native.so": ("changed", "binary, 2 bytes before, 2 bytes now"),
        "old.txt": ("removed", None),
        "new.txt": ("added", None),
        "link.py": ("added", None),
    }


def test_a_change_with_the_old_times_is_found(modules: Modules, hello: Path) -> None:
    assert state(modules) is State.READY
    before = (hello / "module.py").stat()
    (hello / "module.py").write_text((hello / "module.py").read_text().replace('"world"', '"wOrld"'))
    os.utime(hello / "module.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert state(modules) is State.PENDING


def test_caches_are_no_change(modules: Modules, hello: Path) -> None:
    (hello / "__pycache__").mkdir()
    (hello / "__pycache__/module.cpython-311.pyc").write_bytes(b"compiled")
    (hello / ".git").mkdir()
    (hello / ".git/config").write_text("")
    assert state(modules) is State.READY
    assert modules.changes("hello") == []


def test_a_folder_that_cannot_be_hashed_waits_for_approval(modules: Modules, hello: Path) -> None:
    os.mkfifo(hello / "pipe")
    status = modules.status("hello")
    assert status.state is State.PENDING
    assert "pipe is neither" in (status.reason or "")
    with pytest.raises(NotApproved):
        modules.runnable("hello")


def test_a_broken_manifest_in_the_vault_changes_nothing(modules: Modules, hello: Path) -> None:
    (hello / "manifest.yaml").write_text("name: [")
    with pytest.raises(ManifestInvalid):
        approve(modules)
    assert "mistake" in (modules.permission_changes("hello")[1] or "")
    write_module(hello, name="other")
    with pytest.raises(InvalidInput, match="'other', not 'hello'"):
        approve(modules)
    write_module(hello)
    assert state(modules) is State.READY


def test_an_approval_shows_the_rights_that_come(modules: Modules, hello: Path) -> None:
    write_module(hello, more="permissions:\n  write:\n    - Brain/**\n")
    difference, problem = modules.permission_changes("hello")
    assert problem is None
    assert difference is not None
    assert any("Brain/**" in line for line in difference.added)
    with modules.approving("hello") as installation:
        assert "+ " in installation.question.as_text()
        # What comes after the user looked is not what was approved.
        (hello / "late.py").write_text("")
        installation.finish()
    assert state(modules) is State.PENDING
    assert [change.path for change in modules.changes("hello")] == ["late.py"]


@pytest.mark.parametrize("what", ["edited", "added", "compiled", "cache", "removed", "executable"])
def test_an_edited_copy_does_not_start_and_can_be_made_anew(modules: Modules, hello: Path, what: str) -> None:
    code = modules.runnable("hello").code
    match what:
        case "edited":
            (code / "module.py").chmod(0o644)
            (code / "module.py").write_text("evil")
        case "added":
            (code / "json.py").write_text("evil")
        case "compiled":
            (code / "json.pyc").write_text("evil")
        case "cache":
            (code / "__pycache__").mkdir()
            (code / "__pycache__/module.cpython-311.pyc").write_text("evil")
        case "removed":
            (code / "module.py").unlink()
        case "executable":
            (code / "module.py").chmod(0o555)
    with pytest.raises(Damaged, match="hello does not start"):
        modules.runnable("hello")
    approve(modules)
    assert "Module" in (modules.runnable("hello").code / "module.py").read_text()


def test_packages_are_verified_before_every_start(
    modules: Modules, tmp_path: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheel(wheels, "greeting", "1.0")
    source = write_module(tmp_path / "m", more=needing("greeting"))
    installation = install(modules, source)
    assert "Packages, exactly: greeting 1.0" in installation.question.as_text()
    packages = modules.runnable("hello").packages
    assert (packages / "greeting/__init__.py").read_text() == 'VERSION = "1.0"\n'

    def undamaged() -> str:
        return (modules.runnable("hello").packages / "greeting/__init__.py").read_text()

    (packages / "greeting/__init__.py").write_text("evil")
    with pytest.raises(Damaged, match="packages"):
        modules.runnable("hello")
    # Made anew from the kept wheels, without a network.
    monkeypatch.setenv("PIP_FIND_LINKS", "/nonexistent")
    approve(modules)
    assert undamaged() == 'VERSION = "1.0"\n'
    (packages / "greeting/other.pyc").write_text("evil")
    with pytest.raises(Damaged):
        modules.runnable("hello")
    (packages / "greeting/other.pyc").unlink()
    (packages / "greeting/__pycache__").mkdir()
    with pytest.raises(Damaged):
        modules.runnable("hello")
    (packages / "greeting/__pycache__").rmdir()

    # Another interpreter than the one that they were unpacked for.
    lock = packages.parent / "lock.txt"
    lock.write_text(lock.read_text().replace("cpython-", "pypy-"))
    assert undamaged() == 'VERSION = "1.0"\n'
    assert "cpython-" in lock.read_text()


def test_packages_that_nobody_approved_do_not_start(modules: Modules, hello: Path) -> None:
    (modules.runnable("hello").packages / "json.py").write_text("evil")
    with pytest.raises(Damaged, match="nobody approved"):
        modules.runnable("hello")


def test_dependencies_that_cannot_be_had_leave_nothing(
    modules: Modules, tmp_path: Path, wheels: Path, vault: Path
) -> None:
    with pytest.raises(ParachuteError, match="nothing-like-this"):
        install(modules, write_module(tmp_path / "m", more=needing("nothing-like-this")))
    assert modules.list() == []
    assert names(vault / ".modules") == []
    assert names(modules.places.copies) == [".lock"]


def test_disabled_modules_do_not_start(modules: Modules, hello: Path) -> None:
    assert modules.disable("hello").state is State.DISABLED
    with pytest.raises(Conflict, match="disabled"):
        modules.runnable("hello")
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
    with pytest.raises(NotApproved, match="is gone"):
        modules.runnable("hello")
    with pytest.raises(NotFound, match="Install it again"):
        approve(modules)
    with modules.removing("hello"):
        pass
    assert modules.list() == []


def test_an_untrusted_module_stays_untrusted(modules: Modules, source: Path) -> None:
    installation = install(modules, source, untrusted=True)
    assert "no network and only its own folder" in installation.question.as_text()
    (modules.places.source("hello") / "new.py").write_text("")
    approve(modules)
    assert modules.runnable("hello").module.trust is Trust.UNTRUSTED


def test_a_module_runs_in_place_only_from_outside_of_the_vault(
    modules: Modules, source: Path, vault: Path, home: Home
) -> None:
    for folder in (write_module(vault / "Projects/hello"), write_module(home.root / "hello")):
        with pytest.raises(InvalidInput, match="must lie outside"):
            install(modules, folder, dev=True)
    (vault / "link").symlink_to(source)
    link = source.parent / "link"
    link.symlink_to(vault / "Projects/hello")
    with pytest.raises(InvalidInput, match="must lie outside"):
        install(modules, link, dev=True)
    with pytest.raises(InvalidInput, match="only a folder"):
        install(modules, "https://example.org/x", dev=True)
    installation = install(modules, source, dev=True)
    assert "runs in place" in installation.question.as_text()
    (source / "module.py").write_text((source / "module.py").read_text() + "# changed\n")
    runnable = modules.runnable("hello")
    assert (runnable.code, runnable.module.dev) == (source, source)
    assert modules.status("hello").as_json()["dev"] is True
    with pytest.raises(Conflict, match="runs in place"):
        approve(modules)
    with modules.removing("hello"):
        pass
    assert (source / "module.py").exists()


def test_a_link_in_the_place_of_the_sources_is_not_followed(
    modules: Modules, source: Path, vault: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (vault / ".modules").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidInput, match="not a folder"):
        install(modules, source)
    assert names(tmp_path / "elsewhere") == []
    assert modules.list() == []


def test_no_module_starts_with_a_list_that_cannot_be_read(modules: Modules, hello: Path, source: Path) -> None:
    text = modules.places.registry.read_text()
    modules.places.registry.write_text(text[:-40])
    for attempt in (modules.list, lambda: modules.runnable("hello"), lambda: install(modules, source)):
        with pytest.raises(RegistryUnreadable, match=r"modules\.yaml, line \d+"):
            attempt()
    assert (modules.places.copies / "hello").is_dir()
    modules.places.registry.write_text(text)
    modules.runnable("hello")


def test_two_installations_do_not_mix(modules: Modules, source: Path, tmp_path: Path) -> None:
    with modules.installing(str(source)) as first:
        with pytest.raises(Conflict, match="Another program"), modules.installing(str(source)):
            pass
        first.finish()
    assert state(modules) is State.READY
