"""Copy-on-write views of containers, by the kernel and Podman of a booted guest."""

# ruff: noqa: F811 - fixtures of another file have the names of parameters here

from collections.abc import Iterator
from typing import Any

import pytest
from testinfra.host import Host

from tests.appliance.agents import Agents
from tests.appliance.recipe import USER_ID
from tests.appliance.test_containers import agents, built  # noqa: F401 - fixtures

TRIAL = """
from parachute.config.settings.home import Home
from parachute.config.settings.models import SandboxSettings
from parachute.sandbox.engines.containers import image_of, no_views
from parachute.sandbox.engines.engines import trial
home = Home.find()
print(no_views(trial(home, SandboxSettings(limits="unavailable"), image_of(home).id), home.views))
"""


@pytest.fixture(scope="module")
def views(host: Host, agents: Agents, built: dict[str, Any]) -> Iterator[str]:
    """A file system for views: the guest's own is an overlay, in which no layer of another one can lie."""
    folder = f"{agents.home}/.parachute/views"
    agents.run(f"mkdir -p -m 700 {folder}")
    host.check_output(f"mount -t tmpfs -o uid={USER_ID},gid={USER_ID},mode=700 tmpfs {folder}")
    yield folder
    host.check_output(f"umount --lazy {folder}")


@pytest.mark.usefixtures("views")
def test_podman_mounts_views(agents: Agents) -> None:
    said = agents.run(f"$(head -n1 $(command -v parachute) | tail -c +3) - <<'END'\n{TRIAL}\nEND")
    assert said == "None", said
