"""Report of `python -m bench`: results, benchmarks that could not be measured, and failures."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench import registry
from bench.__main__ import main
from bench.results import NotMeasurable, Result

REASON = "It needs what this machine does not have, which takes far more words than fit into one line of any terminal."


def measured() -> Iterator[Result]:
    """A benchmark with a kept budget and a missed one."""
    yield Result("measured.kept", 1, "s", budget=2)
    yield Result("measured.missed", 3, "s", budget=2)


def impossible() -> Iterator[Result]:
    """One for other machines, which has measured something before it knew."""
    yield Result("impossible.first", 1, "s")
    raise NotMeasurable(REASON)


def broken() -> Iterator[Result]:
    """One whose error has no message, as that of an assertion."""
    yield Result("broken.first", 1, "s")
    raise AssertionError


@pytest.fixture
def bench(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """The command with these benchmarks, in a folder of its own: its status, and what it printed."""
    known = {each.__name__: each for each in (measured, impossible, broken)}
    monkeypatch.setattr(registry, "names", lambda: sorted(known))
    monkeypatch.setattr(registry, "load", known.__getitem__)
    monkeypatch.chdir(tmp_path)

    def run(*names: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["bench", *names])
        return main(), capsys.readouterr().out

    return run


def stored() -> dict[str, bool | None]:
    """Return whether budgets were kept, by name, as programs read it."""
    return {entry["name"]: entry["ok"] for entry in json.loads(Path("build/bench.json").read_text())}


def test_a_missed_budget_is_reported_and_no_failure(bench: Callable[..., tuple[int, str]]) -> None:
    status, said = bench("measured")
    assert status == 0
    assert "missed" in said
    assert stored() == {"measured.kept": True, "measured.missed": False}


def test_what_cannot_be_measured_here_is_said_in_one_line_and_no_failure(bench: Callable[..., tuple[int, str]]) -> None:
    status, said = bench("impossible", "measured")
    assert status == 0
    # Whoever measures in a guest reads it by lines.
    assert f"impossible: not measured here. {REASON}" in said.splitlines()
    assert stored() == {"impossible.first": None, "measured.kept": True, "measured.missed": False}


def test_a_benchmark_that_fails_without_a_word_costs_no_other_one_its_report(
    bench: Callable[..., tuple[int, str]],
) -> None:
    status, said = bench("broken", "measured")
    assert status == 1
    assert "broken: the measurement failed. AssertionError" in said.splitlines()
    assert stored() == {"broken.first": None, "measured.kept": True, "measured.missed": False}


def test_an_unknown_name_is_refused_with_those_that_there_are(
    bench: Callable[..., tuple[int, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        bench("nothing")
    assert ended.value.code == 2
    assert "expected one of broken, impossible, measured, not nothing." in capsys.readouterr().err
