"""Checks of the runner before it takes a connection, against real mounts in a sandbox, each beside one that is right."""

import subprocess
import sys
from pathlib import Path

import parachute_runner
import pytest

from tests.sandbox.engines.conftest import needs_bubblewrap

pytestmark = [needs_bubblewrap, pytest.mark.process]

CHECK = """
import json, sys
sys.path.insert(0, sys.argv[1])
from parachute_runner import checks
try:
    getattr(checks, sys.argv[2])(json.loads(sys.argv[3]))
except checks.Differs as error:
    print(error)
"""


def check(name: str, expected: str, *mounts: str) -> str:
    """Return the output of a check in a sandbox with these mounts; empty when it finds what it expects."""
    code = Path(parachute_runner.__path__[0]).parent
    sandbox = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/mnt", *mounts]
    command = [*sandbox, "--", sys.executable, "-IS", "-c", CHECK, str(code), name, expected]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()


def expected(access: str, path: Path, target: str) -> str:
    """One entry, as JSON."""
    status = path.stat()
    return f'["{access}:{status.st_dev}:{status.st_ino}:{target}"]'


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Two folders and a link between them."""
    for name in ("one/below", "two"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "two/link").symlink_to("/mnt/one")
    return tmp_path


def test_what_was_opened_is_found(folders: Path) -> None:
    right = expected("ro", folders / "one", "/mnt/one")
    assert check("mounted", right, "--ro-bind", f"{folders}/one", "/mnt/one") == ""
    writable = expected("rw", folders / "one", "/mnt/one")
    assert check("mounted", writable, "--bind", f"{folders}/one", "/mnt/one") == ""


def test_another_folder_is_noticed(folders: Path) -> None:
    right = expected("ro", folders / "one", "/mnt/one")
    said = check("mounted", right, "--ro-bind", f"{folders}/two", "/mnt/one")
    assert said == "/mnt/one is not what was to be mounted there"
    assert check("mounted", right) == "/mnt/one is not there (No such file or directory)"


def test_a_link_on_the_way_is_not_followed(folders: Path) -> None:
    right = expected("ro", folders / "one", "/mnt/two/link")
    said = check("mounted", right, "--ro-bind", f"{folders}/one", "/mnt/one", "--ro-bind", f"{folders}/two", "/mnt/two")
    assert said == "/mnt/two/link is not what was to be mounted there"


def test_what_can_be_written_and_should_not_is_noticed(folders: Path) -> None:
    right = expected("ro", folders / "one", "/mnt/one")
    assert check("mounted", right, "--bind", f"{folders}/one", "/mnt/one") == "/mnt/one is not read-only"
    nested = ["--ro-bind", f"{folders}/one", "/mnt/one", "--bind", f"{folders}/two", "/mnt/one/below"]
    assert check("mounted", right, *nested) == "/mnt/one/below can be written, below a read-only folder"
    writable = expected("rw", folders / "one", "/mnt/one")
    assert check("mounted", writable, "--ro-bind", f"{folders}/one", "/mnt/one") == "/mnt/one cannot be written"


def test_limits_are_read_from_the_control_group(tmp_path: Path) -> None:
    group = {"memory.max": "1000000\n", "pids.max": "64\n", "cpu.max": "50000 100000\n"}
    for name, content in group.items():
        (tmp_path / name).write_text(content)
    mount = ("--ro-bind", str(tmp_path), "/sys/fs/cgroup")
    right = '{"memory": 1000000, "processes": 64, "cpus": 0.5}'
    assert check("limited", right, *mount) == ""
    assert check("limited", "{}", *mount) == ""
    assert check("limited", '{"memory": 500000}', *mount) == "the limit of memory is 1e+06 instead of 500000"
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tmp_path / "pids.max").write_text("max\n")
    assert check("limited", '{"cpus": 0.5}', *mount) == "the limit of cpus is not there instead of 0.5"
    assert check("limited", '{"processes": 64}', *mount) == "the limit of processes is not there instead of 64"
