"""Agent files: what they may say, and what is told when they say something else."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parachute.base.errors import InvalidInput
from parachute.modules.agent_definitions.definition import read_definition
from parachute.modules.agent_definitions.models import Definition


def read(*lines: str, body: str = "Do it.") -> Definition:
    """A file with these lines of frontmatter."""
    return read_definition("page", "Garden", "\n".join(("---", *lines, "---", body)))


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ('schedule: {time: "03:00"}', "03:00"),
        ("schedule: {time: 03:00}", "03:00"),
        ("schedule: {time: 21:30}", "21:30"),
        ("schedule: {time: 9:05}", "09:05"),
        ("schedule:\n  time: 00:00", "00:00"),
        ('schedule: "04:15"', "04:15"),
        ("schedule: 4:15", "04:15"),
        ("schedule: Every weekday at 7", "every weekday at 7"),
        ("schedule: {time: first sunday of the month at 9}", "first sunday of the month at 9"),
        ("schedule: {time: 0 7 * * 1-5}", "0 7 * * 1-5"),
    ],
)
def test_times_are_read_with_and_without_quotes(line: str, time: str) -> None:
    found = read(line)
    assert (str(found.at), found.is_enabled, found.is_day_before) == (time, True, False)


def test_a_schedule_has_a_limit() -> None:
    assert read("schedule: {time: every 2 hours, most_a_month: 2.5}").most_a_month == 2.5
    assert read("schedule: every 2 hours").most_a_month is None


def test_what_is_left_out_has_a_default() -> None:
    found = read()
    assert (found.display_name, found.description, found.is_enabled) == ("Page", "", False)
    assert (found.output, found.capabilities, found.model) == (
        "Garden/page/{date}.md",
        ("Read", "Glob", "Grep"),
        None,
    )


def test_the_output_is_a_path_or_a_mapping_with_one() -> None:
    for line in ("output: Garden/a/{date}.md", "output: {path: 'Garden/a/{date}.md'}"):
        assert read(line).output == "Garden/a/{date}.md"
    assert read("output: {}").output == "Garden/page/{date}.md"


def test_windows_line_ends_and_tools_of_modules() -> None:
    text = "---\r\ntools: [read, brain-search]\r\ncapabilities: [Bash]\r\nother: 1\r\n---\r\nDo it.\r\n"
    found = read_definition("page", "Garden", text)
    assert (found.capabilities, found.mcp_tools, found.prompt) == (("Read", "Bash"), ("brain-search",), "Do it.")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("name: other", "name: expected page"),
        ("schedule: daily", "is no time of the day"),
        ("schedule: [1]", "schedule: expected"),
        ("output: {file: x}", "output.file: only path is known"),
        ("output: {path: Garden/page.md}", "must contain {date}"),
        ("schedule: {enabled: maybe, time: '03:00'}", "schedule.enabled: expected true or false"),
        ("schedule: {enabled: true}", "schedule.time: expected"),
        ("schedule: {time: 99999}", "schedule.time: expected"),
        ("schedule: {time: true}", "schedule.time: expected"),
        ("schedule: {time: '25:00'}", "is no time of the day"),
        ("schedule: {time: '03:00', day: after}", "schedule.day: expected same or before"),
        ("schedule: {time: '03:00', most_a_month: -1}", "schedule.most_a_month: expected US dollars"),
        ("schedule: {time: '03:00', most_a_month: true}", "schedule.most_a_month: expected US dollars"),
        ("schedule: {time: '03:00', most_a_month: .nan}", "schedule.most_a_month: expected US dollars"),
        (f"schedule: {{time: '03:00', most_a_month: {'9' * 400}}}", "schedule.most_a_month: expected US dollars"),
        ("schedule: {time: every moonday at 7}", "every weekday at 7"),
        ("schedule: {tiem: '03:00'}", "schedule.tiem: only"),
        ("output: Garden/page.md", "must contain {date}"),
        ("output: Garden/.agents/{date}.md", "not hidden"),
        ("output: .parachute/{date}.md", "not hidden"),
        ("output: ../{date}.md", "must not contain `..`"),
        ("output: /etc/{date}.md", "must be a path within the vault"),
        ("output: Garden/{date}.sh", "ends with .md"),
        ("tools: Read", "tools: expected a list"),
        ("tools: ['rm -rf']", "is no name of a tool"),
        ("model: 'a b'", "cannot be the name of a model"),
        ("can_suggest: brain", "can_suggest: expected a list"),
        ("can_suggest: [Brain]", "can_suggest: expected a list"),
        ("can_suggest: [1]", "can_suggest: expected a list"),
        ("displayName: [1]", "displayName: expected text"),
        ("- a\n- b", "`name: value` are expected"),
        ("a: [", "This is not YAML"),
    ],
)
def test_mistakes_are_named(line: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        read(line)
    assert said in refused.value.message


@pytest.mark.parametrize("text", ["", "Do it.", "---\nname: page\n", "---\n---\n  \n"])
def test_a_file_without_its_parts_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_definition("page", "Garden", text)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=200), st.text(max_size=50))
def test_whatever_is_in_a_file_it_is_read_or_refused(front: str, body: str) -> None:
    try:
        found = read_definition("page", "Garden", f"---\n{front}\n---\n{body}")
    except InvalidInput:
        return
    assert found.prompt
