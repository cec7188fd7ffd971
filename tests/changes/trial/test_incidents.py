"""Twelve incidents in each kind of run: the folder is as before after an undo, also where the server dies meanwhile."""

import pytest

from tests.changes.listing import listed
from tests.changes.trial.conftest import Trial
from tests.changes.trial.incidents import INCIDENTS, Incident, furnish
from tests.changes.views import World

pytestmark = pytest.mark.process


def prepare(world: World) -> dict[str, str]:
    """Fill the project, a repository with work that is in no commit; what is in it."""
    furnish(world.project)
    world.git("init", "-q", "-b", "main")
    world.git("add", "notes", "ledger.csv")
    world.git("commit", "-qm", "first")
    world.git("tag", "first")
    world.write("ledger.csv", "day,cents\n1,200\n2,350\n")
    world.write("notes/in no commit.md", "today\n")
    return without_objects(world)


def without_objects(world: World) -> dict[str, str]:
    """Everything in the project but git's objects, of which only new ones are made."""
    return {path: what for path, what in listed(world.project).items() if not path.startswith(".git/objects")}


@pytest.mark.parametrize("incident", INCIDENTS, ids=lambda incident: incident.name)
async def test_everything_is_back(trial: Trial, incident: Incident) -> None:
    before = prepare(trial.world)
    await trial.run(incident.command)
    assert without_objects(trial.world) != before
    await trial.undo()
    assert without_objects(trial.world) == before
    assert trial.world.git("fsck", "--no-dangling") == ""


@pytest.mark.parametrize("incident", INCIDENTS[:3], ids=lambda incident: incident.name)
async def test_everything_is_back_after_the_server_died(trial: Trial, incident: Incident) -> None:
    before = prepare(trial.world)
    await trial.run(incident.command, is_cut_off=True)
    await trial.undo()
    assert without_objects(trial.world) == before
