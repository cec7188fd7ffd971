"""Packages of modules: wheels from a folder of the test, fetched and unpacked by the real pip."""

import socket
from pathlib import Path

import pytest

from parachute.modules.registry import dependencies
from parachute.modules.registry.dependencies import DependenciesFailed
from parachute.modules.registry.requirements import Lock, check_requirements, interpreter_tag, locked_wheels
from parachute.modules.trees.models import Limits, Silent
from tests.support.errors import raises

from .building import everything, write_source_package, write_wheel

pytestmark = pytest.mark.process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Create the folder for a version of a module."""
    (tmp_path / "version").mkdir()
    return tmp_path / "version"


def resolve(folder: Path, *requires: str) -> Lock:
    """Fetch and lock."""
    return dependencies.resolve(requires, folder, Limits(), Silent())


@pytest.mark.long
def test_packages_are_locked_unpacked_and_rebuilt_without_a_network(
    wheels: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wheel(wheels, "greeting", "1.5", requires=("polite>=2",))
    write_wheel(wheels, "greeting", "2.0")
    write_wheel(wheels, "polite", "2.1", {"polite/__init__.py": "", "polite/old.pyc": "compiled"})
    made = resolve(folder, "greeting<2")
    assert [(each.name, each.version) for each in made.packages] == [("greeting", "1.5"), ("polite", "2.1")]
    assert not (folder / "packages").exists()
    assert Lock.read(folder / "lock.txt") == made

    # From here on nothing can be fetched.
    monkeypatch.setenv("PIP_FIND_LINKS", "/nonexistent")
    digest = dependencies.install(folder, Limits())
    packages = everything(folder / "packages")
    assert {"greeting/__init__.py", "polite/__init__.py"} <= packages
    assert not [path for path in packages if path.endswith(".pyc") or "__pycache__" in path]
    assert not (folder / "temporary").exists()

    other = Lock(made.requires, "cpython-39-elsewhere", made.packages)
    (folder / "lock.txt").write_text(other.render())
    assert not dependencies.fits(folder)
    assert dependencies.rebuild(folder, tmp_path / "work", Limits()) == digest
    dependencies.mark_rebuilt(folder)
    assert dependencies.fits(folder)
    assert everything(folder / "packages") == packages


def lock(folder: Path, *requires: str) -> Lock:
    """Lock the wheels that are there, without pip."""
    made = locked_wheels(requires, folder / "wheels")
    (folder / "lock.txt").write_text(made.render())
    return made


def test_a_wheel_that_was_exchanged_is_not_unpacked(folder: Path) -> None:
    write_wheel(folder / "wheels", "greeting")
    lock(folder, "greeting")
    write_wheel(folder / "wheels", "greeting", files={"greeting/__init__.py": "import evil"})
    with raises("dependencies_failed", names="(?i)hash"):
        dependencies.install(folder, Limits())


def test_a_package_without_a_wheel_is_refused_and_its_setup_never_runs(
    wheels: Path, folder: Path, tmp_path: Path
) -> None:
    touched = tmp_path / "touched"
    write_source_package(wheels, "evil", touched)
    with raises("dependencies_failed", names="evil") as raised:
        resolve(folder, "evil")
    assert "Only wheels" in str(raised.value)
    assert not touched.exists()


@pytest.mark.long  # pip takes a second
def test_the_environment_cannot_make_pip_build(
    wheels: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touched = tmp_path / "touched"
    write_source_package(wheels, "evil", touched)
    (tmp_path / "pip.conf").write_text("[global]\nno-binary = :all:\nonly-binary =\n[download]\nno-binary = evil\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("PIP_NO_BINARY", "evil")
    with pytest.raises(DependenciesFailed):
        resolve(folder, "evil")
    assert not touched.exists()


@pytest.mark.parametrize(
    "text",
    [
        "evil @ file:///tmp/evil",
        "evil @ https://example.org/evil.tar.gz",
        "git+https://example.org/evil",
        "./evil",
        "/tmp/evil",
        "evil.tar.gz/",
        "-r /etc/passwd",
        "--index-url=https://example.org",
        "-e .",
        "evil --no-binary=:all:",
        "evil; python_version > '3' @ file:///x",
        "",
        "evil\n-e .",
        "evil$(touch x)",
    ],
)
def test_only_names_and_versions_reach_pip(text: str) -> None:
    with raises("invalid_dependency", names="dependencies: "):
        check_requirements((text,))


@pytest.mark.parametrize(
    "text",
    [
        "pyyaml",
        "pyyaml>=6.0",
        "aiofiles >= 23.0, < 25",
        "uvicorn[standard]~=0.40.0",
        "a.b-c_d==1.0.*",
        "x!=2!1.0+local.1",
        'tomli>=2; python_version < "3.11" and sys_platform == "linux"',
    ],
)
def test_names_and_versions_are_understood(text: str) -> None:
    check_requirements((text,))


def test_a_package_that_replaces_the_computer_is_refused(folder: Path) -> None:
    write_wheel(folder / "wheels", "innocent", files={"parachute/__init__.py": "evil = True"})
    lock(folder, "innocent")
    with raises("package_replaces_ours", names="'parachute'"):
        dependencies.install(folder, Limits())


@pytest.mark.long  # pip takes a second
def test_a_package_for_another_machine_is_told(wheels: Path, folder: Path) -> None:
    write_wheel(wheels, "greeting", tag="cp311-cp311-win_amd64")
    with raises("dependencies_failed", names="greeting"):
        resolve(folder, "greeting")


@pytest.mark.long  # pip takes a second
def test_compiled_packages_of_another_interpreter_cannot_be_rebuilt(folder: Path, tmp_path: Path) -> None:
    wheel = write_wheel(folder / "wheels", "greeting", tag="cp39-cp39-win_amd64")
    assert lock(folder, "greeting").packages[0].name == "greeting"
    (folder / "packages").mkdir()
    (folder / "packages/kept").write_text("")
    with raises("other_python"):
        dependencies.rebuild(folder, tmp_path / "work", Limits())
    assert everything(folder / "packages") == {"kept"}
    assert wheel.exists()


def test_an_index_that_cannot_be_reached_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    # Bound, so that nobody else gets the port, and not listening.
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{closed.getsockname()[1]}/simple")
        with raises("unreachable"):
            resolve(folder, "greeting")


@pytest.mark.long  # pip takes a second
def test_a_download_that_is_too_large_is_ended(wheels: Path, folder: Path) -> None:
    write_wheel(wheels, "greeting", files={"greeting/data": "x" * 3_000_000})
    with raises("too_large"):
        dependencies.resolve(("greeting",), folder, Limits(packages_bytes=1 << 20), Silent())


def test_a_lock_is_reused_for_the_same_question_only(folder: Path, tmp_path: Path) -> None:
    write_wheel(folder / "wheels", "greeting")
    made = lock(folder, "greeting")
    assert dependencies.can_reuse(("greeting",), folder) == made
    assert dependencies.can_reuse(("greeting", "polite"), folder) is None
    (tmp_path / "new").mkdir()
    dependencies.reuse(made, folder, tmp_path / "new")
    assert everything(tmp_path / "new") == {"lock.txt", "wheels", "wheels/greeting-1.0-py3-none-any.whl"}
    (folder / "lock.txt").write_text(Lock(made.requires, "other", made.packages).render())
    assert dependencies.can_reuse(("greeting",), folder) is None
    (folder / "lock.txt").write_text(made.render())
    write_wheel(folder / "wheels", "greeting", files={"greeting/other.py": ""})
    assert dependencies.can_reuse(("greeting",), folder) is None
    assert interpreter_tag().startswith("cpython-")
