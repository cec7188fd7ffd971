"""The table of attempts in bubblewrap, each beside the proof that the same attempt succeeds outside."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.sandbox.engines.conftest import SandboxFactory, needs_bubblewrap
from tests.sandbox.engines.escapes import rows
from tests.sandbox.engines.sandboxes import interpreter
from tests.supervisor.launching import ROOT

pytestmark = [needs_bubblewrap, pytest.mark.timeout(900)]


@pytest.fixture
def planted(sandboxes: SandboxFactory) -> Iterator[SandboxFactory]:
    """Sandboxes on a machine where there is something to get at."""
    command = [sys.executable, "-m", "tests.sandbox.engines.escapes.planting", str(sandboxes.launcher.folder)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as planting:
        assert planting.stdout is not None
        assert json.loads(planting.stdout.readline()) == []
        yield sandboxes
        planting.communicate()
    assert planting.returncode == 0


@pytest.mark.long
@pytest.mark.parametrize("has_view", [False, True], ids=["live", "view"])
async def test_every_attempt_is_refused_and_succeeds_outside(
    planted: SandboxFactory, has_view: bool, request: pytest.FixtureRequest
) -> None:
    if has_view:
        request.getfixturevalue("views_work")
    view = planted.launcher.home.views / "one" if has_view else None
    sandbox = await planted.make(planted.vault.root / "Projects/one", view=view)
    # With its input open: an agent has five seconds after the end of it.
    with sandbox.start(interpreter(), *rows.INSIDE) as process:
        assert process.stdout is not None
        said = process.stdout.read().decode()
        process.communicate()
    assert rows.not_refused(said) == {}
    control = [interpreter(), *rows.outside(str(planted.vault.root))]
    done = subprocess.run(control, cwd=planted.vault.root, stdout=subprocess.PIPE, text=True, check=True)
    assert rows.not_through(done.stdout, ("same", "root") if os.getuid() == 0 else ("same",)) == {}
