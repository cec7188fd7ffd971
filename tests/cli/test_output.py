"""Times, counts and sizes as the command line shows them."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from parachute.chat.runs.events import read
from parachute.cli.event_stream import Received
from parachute.cli.output import ago, local, size
from parachute.cli.printer import TextPrinter
from parachute.cli.wrapping import Wrapper
from tests.cli.scripted_core import tool


def test_a_time_is_local_and_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Vienna")
    time.tzset()
    try:
        moment = datetime(2026, 11, 22, 15, 33, 14, tzinfo=UTC)
        assert local(moment) == local(moment.isoformat()) == local("2026-11-22T15:33:14.517Z") == "2026-11-22 16:33"
    finally:
        monkeypatch.undo()
        time.tzset()
    assert (local(None), local("", ""), local("soon")) == ("never", "", "soon")


@pytest.mark.parametrize(
    ("seconds", "shown"), [(-60, "0 s ago"), (130, "2 min ago"), (3 * 3600 + 59, "3 h ago"), (90_000, "1 d ago")]
)
def test_how_long_ago_has_one_unit(seconds: int, shown: str) -> None:
    assert ago((datetime.now(UTC) - timedelta(seconds=seconds)).isoformat()) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (1, "1 byte"),
        (70_000, "70 kB"),
        (709_536, "710 kB"),
        (999_999, "1.0 MB"),
        (1_200_000_000, "1.2 GB"),
    ],
)
def test_sizes_have_the_unit_that_people_think_in(count: int, shown: str) -> None:
    assert size(count) == shown


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_lines_break_between_words(size: int) -> None:
    words = "one two three fourteen\n  indented words\n日本語 日本語 an-extraordinarily-long-word x"
    wrapper = Wrapper(10)
    pieces = [words[at : at + size] for at in range(0, len(words), size)]
    shown = "".join(map(wrapper.feed, pieces)) + wrapper.rest()
    assert shown.splitlines() == [
        "one two",
        "three",
        "fourteen",
        "  indented",
        "words",
        "日本語",
        "日本語",
        "an-extraordinarily-long-word",
        "x",
    ]


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["a\nb", "a\nc", "a\nc d"], "a\nb\nc d\n"),
        (["one two", "one"], "one two\none\n"),
        (["same", "same"], "same\n"),
        (["", "x"], "x\n"),
    ],
)
def test_text_that_changes_goes_on_from_the_changed_line(
    capsys: pytest.CaptureFixture[str], texts: list[str], shown: str
) -> None:
    printer = TextPrinter()
    for document in (*({"type": "text", "content": each} for each in texts), {"type": "done", "sessionId": "s"}):
        printer.show(Received(document, read(document)))
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize(
    ("todos", "shown"),
    [
        ([{"status": "completed"}, {"status": "in_progress", "activeForm": "Sawing"}], "1 of 2 done. Sawing"),
        ([{"status": "in_progress", "content": "Saw"}], "0 of 1 done. Saw"),
        ([{"status": "completed"}], "1 of 1 done."),
        ([7, None], ""),
        ("all", ""),
    ],
)
def test_the_list_of_steps_says_at_which_one_it_is(
    capsys: pytest.CaptureFixture[str], todos: object, shown: str
) -> None:
    document = tool("TodoWrite", todos=todos)
    TextPrinter().show(Received(document, read(document)))
    assert capsys.readouterr().err == f"> TodoWrite {shown}".rstrip() + "\n"
