"""Caches of package managers: one for each project, on the disk, and never larger than allowed for long."""

import os
from pathlib import Path

import pytest

from parachute.config.settings.home import Home
from parachute.sandbox.engines import caches
from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap
from tests.support.waiting import until

pytestmark = pytest.mark.process


def test_a_project_has_one_and_no_other_has_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    one, two = (caches.cache_of(home, tmp_path / name) for name in ("one", "two"))
    assert one != two
    assert one == caches.cache_of(home, tmp_path / "one")
    (tmp_path / "full").touch()
    assert caches.cache_of(Home(tmp_path / "full"), tmp_path) == "", "where there is no room, it is in memory"


def test_its_path_leads_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    cache = Path(caches.cache_of(Home(tmp_path / "link"), tmp_path))
    assert cache.is_dir()
    assert cache.is_relative_to(tmp_path.resolve() / "real")


def test_what_is_large_or_old_is_removed_at_a_start(tmp_path: Path) -> None:
    home = Home(tmp_path)
    kept, old, large = (Path(caches.cache_of(home, tmp_path / name)) for name in ("kept", "old", "large"))
    (large / "npm").mkdir()
    (large / "npm/file").write_bytes(b"x" * (2 << 20))
    (large / "npm").chmod(0)  # as an agent may leave it
    os.utime(old, (0, 0))
    caches.put_aside(Path(caches.cache_of(home, tmp_path / "killed")))
    caches.tidy(home, 1)
    assert list(home.caches.iterdir()) == [kept]


@needs_bubblewrap
async def test_it_outlives_a_sandbox_until_it_is_too_large(sandboxes: SandboxFactory) -> None:
    sandboxes.service = sandboxes.make_service(cache_megabytes=16)
    project = sandboxes.vault.root / "Projects/one"
    sandbox = await sandboxes.make(project)
    sandbox.shell("mkdir $npm_config_cache && echo kept > $npm_config_cache/file")
    await sandboxes.service.opened.close(sandbox.unit.removeprefix("sandbox@"))
    sandbox = await sandboxes.make(project)
    assert sandbox.shell("cat $npm_config_cache/file; head -c 20M /dev/zero > $PIP_CACHE_DIR") == "kept\n"
    (cache,) = sandboxes.launcher.home.caches.iterdir()
    other = await sandboxes.make(project)
    await sandboxes.service.opened.close(sandbox.unit.removeprefix("sandbox@"))
    assert other.shell("cat $npm_config_cache/file") == "kept\n", "nobody takes it from a sandbox that has it"
    await sandboxes.service.opened.close(other.unit.removeprefix("sandbox@"))
    await until(lambda: not any(sandboxes.launcher.home.caches.iterdir()), "it is empty")
    assert not cache.exists()


@needs_bubblewrap
async def test_a_casual_chat_has_one_in_memory(sandboxes: SandboxFactory) -> None:
    sandbox = await sandboxes.make()
    assert "tmpfs" in sandbox.shell("mkdir $npm_config_cache && df --output=fstype /cache")
    assert list(sandboxes.launcher.home.caches.iterdir()) == []
