"""Programs installed from a wheel work where there is no checkout."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from packages.wheel import build
from tests.conftest import needs_bubblewrap
from tests.support.computer import free_port

pytestmark = [pytest.mark.long, pytest.mark.downloads]
ROOT = Path(__file__).resolve().parent.parent
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
_HASHES = """
import json, parachute.modules.registry.verified as verified
from pathlib import Path
folder = verified.official_folder()
stored = json.loads(Path(verified.__file__).with_name("verified.json").read_text())
print(json.dumps({"folder": str(folder), "stored": stored, "found": verified.official_hashes(folder)}))
"""


class Installed:
    """A fresh virtual environment with the wheel, and a user with an empty home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        self._environment = {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "PARACHUTE_PORT": str(free_port()),
            "LANG": "C.UTF-8",
        }

    def install(self, wheel: Path) -> None:
        """Install the wheel itself; what it needs is found where these tests have it, and no network is asked."""
        environment = self.folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
        python = environment / "bin" / "python"
        command = [
            str(Path(sys.executable).with_name("uv")),
            "pip",
            "install",
            "--quiet",
            "--offline",
            "--no-config",
            "--no-deps",
        ]
        subprocess.run(
            [*command, "--python", str(python), str(wheel)], env={**os.environ, **self._environment}, check=True
        )
        (packages,) = environment.glob("lib/python*/site-packages")
        known = Path(pytest.__file__).resolve().parents[1]
        (packages / "known.pth").write_text(f"{known}\n")

    def run(self, program: str, *words: str) -> str:
        """Return the output of a program of the environment; error: AssertionError with all of its output."""
        done = subprocess.run(
            [self.folder / "venv" / "bin" / program, *words],
            cwd=self.home,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, f"{words}: {done.stdout}\n{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Iterator[Installed]:
    # Directly under /tmp: the path of a socket may have 107 characters only.
    folder = Path(tempfile.mkdtemp(prefix="pc-wheel-", dir="/tmp"))
    try:
        each = Installed(folder)
        each.install(wheel)
        yield each
    finally:
        shutil.rmtree(folder)


def test_the_wheel_has_what_runs_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"parachute", "parachute_runner", f"parachute_computer-{VERSION}.dist-info"}
    assert {"parachute/py.typed", "parachute_runner/py.typed", "parachute_runner/etc/passwd"} <= names
    official = [name for name in names if name.startswith("parachute/official/")]
    assert {name.split("/")[2] for name in official} == {"brain", "chat", "daily", "imports"}
    assert [name for name in official if "/tests/" in name or "conftest" in name] == []
    assert [name for name in names if "__pycache__" in name] == []


def test_the_official_modules_are_the_verified_ones(installed: Installed) -> None:
    told = json.loads(installed.run("python", "-c", _HASHES))
    assert Path(told["folder"]).is_relative_to(installed.folder)
    assert set(told["stored"]) == {"brain", "chat", "daily", "imports"}
    assert told["found"] == told["stored"]


@needs_bubblewrap
def test_a_new_user_sets_up_and_writes_into_the_journal(installed: Installed) -> None:
    assert VERSION in installed.run("parachute", "--version")
    installed.run("parachute", "setup", "--yes")
    listed = json.loads(installed.run("parachute", "modules", "list", "--json"))
    assert {(module["name"], module["trust_level"], module["source"]) for module in listed} == {
        (name, "verified", f"parachute://{name}") for name in ("brain", "chat", "daily", "imports")
    }
    installed.run("parachute", "start")
    try:
        installed.run("parachute", "daily", "add", "Tea with Kevin")
        assert "Tea with Kevin" in installed.run("parachute", "daily", "today")
    finally:
        installed.run("parachute", "stop")


_OURS = ("ANTHROPIC_", "CLAUDE", "PARACHUTE_", "PYTHON", "VIRTUAL_ENV", "XDG_")


class Follower:
    """Somebody with an empty home and a wheel, who types what docs/doors.md says."""

    def __init__(self, folder: Path) -> None:
        build(folder / "dist")
        (folder / "requirements").symlink_to(ROOT / "requirements")
        (folder / "home").mkdir()
        self.folder = folder
        self.port = free_port()
        uv = Path(sys.executable).with_name("uv")
        cache = subprocess.run([uv, "cache", "dir"], check=True, capture_output=True, text=True).stdout.strip()
        # pipx itself comes from elsewhere; what they install is fetched, or was before.
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(_OURS)},
            "HOME": str(folder / "home"),
            "PATH": f"{folder}/home/.local/bin:{folder}/programs:{uv.parent}:/usr/local/bin:/usr/bin:/bin",
            "UV_CACHE_DIR": cache,
            "PARACHUTE_PORT": str(self.port),
            "LANG": "C.UTF-8",
        }

    def run(self, line: str) -> str:
        """Return the output of a line; error: AssertionError with all of its output."""
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{line}: {done.stdout}\n{done.stderr}"
        return done.stdout


def lines_of(program: str) -> list[str]:
    """The lines of the page that begin with the name of a program."""
    page = (ROOT / "docs" / "doors.md").read_text()
    chapter = page.partition("## uv or pipx\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```text\n(.*?)```", chapter, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith(f"{program} ")]


@needs_bubblewrap
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("program", "removing"), [("uv", 1), ("pipx", 0)])
def test_it_is_installed_started_and_removed_as_its_page_says(program: str, removing: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="pc-doors-", dir="/tmp"))
    try:
        follower = Follower(folder)
        if program == "pipx":
            shutil.copytree(folder / "home", folder / "programs")
            follower.run(f"UV_TOOL_BIN_DIR={shlex.quote(str(folder / 'programs'))} uv tool install --quiet pipx")
        lines = lines_of(program)
        installing, uninstalling = lines[: len(lines) - removing], lines[len(lines) - removing :]
        assert installing
        for line in installing:
            follower.run(line)
        assert follower.run("command -v parachute").strip() == f"{folder}/home/.local/bin/parachute"
        assert follower.run("parachute version").strip() == f"parachute {VERSION}"
        follower.run("parachute start")
        try:
            asked = urllib.request.Request(f"http://127.0.0.1:{follower.port}/", headers={"Accept": "text/html"})
            with urllib.request.urlopen(asked, timeout=30) as answer:
                assert b"<!doctype html>" in answer.read().lower()
            assert follower.run("parachute chat hello").strip(), "the small model came along"
        finally:
            follower.run("parachute stop")
        for line in uninstalling or [f"{program} uninstall parachute-computer"]:
            follower.run(line)
        assert not (folder / "home/.local/bin/parachute").exists()
        assert (folder / "home/Parachute").is_dir()
    finally:
        shutil.rmtree(folder)
