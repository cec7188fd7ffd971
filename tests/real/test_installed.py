"""Programs that cannot be installed, or do not start."""

import subprocess
import tempfile
from pathlib import Path

import psutil
import pytest

from tests.real import installed
from tests.real.nginx import NginxHost

pytestmark = pytest.mark.process

LOCK = "mcp_servers.txt"


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("npm error code EINTEGRITY\nsha512-x integrity checksum failed", pytest.fail.Exception),
        (
            "npm error `npm ci` can only install packages when your package.json and lock file are in sync",
            pytest.fail.Exception,
        ),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", pytest.fail.Exception),
        (
            "npm error code ENOTFOUND\nnpm error network request to https://registry.example failed",
            pytest.skip.Exception,
        ),
        ("WARNING: Retrying after connection broken by 'NewConnectionError(...)'", pytest.skip.Exception),
    ],
)
def test_a_broken_lock_fails_and_is_tried_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tried: list[Path] = []

    def install(folder: Path) -> None:
        tried.append(folder)
        raise subprocess.CalledProcessError(1, ["npm"], stderr=said)

    for _ in range(2):
        with pytest.raises(outcome):
            installed.obtained(str(tmp_path.name), LOCK, install)
    assert len(tried) == 1


async def test_nginx_that_does_not_start_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "nginx").write_bytes(b"\x7fELF is broken")
    (tmp_path / "nginx").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with tempfile.TemporaryDirectory(prefix="pcr-", dir="/tmp") as folder:
        host = NginxHost(Path(folder) / "nginx-host" / "repositories")
        with pytest.raises(OSError, match="format"):
            async with host.running():
                raise AssertionError
    assert [each.name() for each in psutil.Process().children() if each.name() == "fcgiwrap"] == []
