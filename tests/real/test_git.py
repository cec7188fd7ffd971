"""git behind the proxy, with nginx as its host: what other tests do with a host of their own."""

import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.real.nginx import NginxHost
from tests.sandbox.git.conftest import World
from tests.sandbox.git.git_host import HOST, TOKEN, run_git

pytestmark = pytest.mark.long

URL = f"https://{HOST}/owner"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """A proxy, and nginx behind it; the folder has a short path because of its sockets."""
    with tempfile.TemporaryDirectory(prefix="pcr-", dir="/tmp") as folder:
        made = World(Path(folder))
        authority = made.host.authority
        made.host = NginxHost(Path(folder) / "nginx-host" / "repositories")
        made.host.authority = authority  # whom the service trusts
        async with made.host.running():
            yield made
            await made.close()


async def test_clone_push_tags_and_submodules(world: World) -> None:
    for name in ("boat", "sail"):
        world.host.make(f"owner/{name}.git")
        world.grants.allow(f"{HOST}/owner/{name}")
    await world.open()
    await world.works("clone", "--quiet", f"{URL}/boat.git")
    tree = world.home / "boat"
    await world.works("submodule", "--quiet", "add", f"{URL}/sail.git", at=tree)
    (tree / "large").write_bytes(os.urandom(8 << 20))
    await world.works("add", ".", at=tree)
    await world.works("commit", "--quiet", "--message=Sail", at=tree)
    await world.works("tag", "one", at=tree)
    await world.works("push", "--quiet", "origin", "HEAD:main", "one", at=tree)
    assert world.host.log("owner/boat.git") == "Sail\nFirst\n"
    await world.works("clone", "--quiet", "--recurse-submodules", f"{URL}/boat.git", "again")
    assert (world.home / "again/sail/hello.txt").read_text() == "hello\n"
    await world.works("clone", "--quiet", "--depth=1", f"{URL}/boat.git", "shallow")
    await world.works("fetch", "--quiet", "--unshallow", at=world.home / "shallow")
    await world.works("push", "--quiet", "--delete", "origin", "one", at=tree)
    assert run_git("tag", at=world.host.folder / "owner/boat.git") == ""
    everywhere = "".join(path.read_text() for path in world.folder.glob("audit/*"))
    assert TOKEN not in everywhere


async def test_what_is_not_allowed_is_refused_and_a_wrong_token_is_a_sentence(world: World) -> None:
    world.host.make("owner/boat.git")
    await world.open()
    assert "remote: The owner was asked about fetch" in await world.fails("clone", f"{URL}/boat.git")
    world.grants.allow(f"{HOST}/owner/boat")
    world.tokens.set(HOST, "another-token-of-the-owner")
    said = await world.fails("clone", f"{URL}/boat.git")
    assert f"remote: {HOST} does not accept the token" in said
    assert "another-token" not in said
