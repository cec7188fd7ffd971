"""A hooks.yaml that is cut in half: whoever looks after the computer hears that hooks do not run."""

from parachute.cli.commands.status import hook_facts
from parachute.events.hooks.inbox import HooksSource

from .conftest import Place


async def test_a_file_that_is_cut_in_half_is_told_by_status_doctor_and_inbox(place: Place) -> None:
    place.write(session__end=["echo one", "echo two"])
    file = place.home.root / "hooks.yaml"
    whole = file.read_text()
    source = HooksSource(place.hooks)
    await place.approve()
    assert await source.items() == []
    file.write_text(whole[: whole.rindex("command:") + 4])

    assert await place.hooks.list() == []
    (problem,) = place.hooks.problems()
    assert str(file) in problem
    assert hook_facts({"hook_problems": [problem]}) == [("Hooks", f"do not run: {problem}")]

    (item,) = await source.items()
    assert (item.kind, item.details["problem"], item.answers) == ("hook", problem, ())
    assert item.is_owners

    file.write_text(whole)
    assert await source.items() == []
