"""Following a folder: the moments at which all of it is looked at, and at which only the computer is asked."""

from collections.abc import Iterator

import pytest

from parachute.base.errors import Conflict, ParachuteError, Unavailable
from parachute.cli.following_sync import follow
from parachute.files.device.service import Report
from tests.support.errors import raises


class _Follower:
    """Follows what is scripted: `heard` are the answers of the system, each some seconds after the last; then it ends."""

    def __init__(self, *heard: bool, seconds: float = 15) -> None:
        self.heard = iter(heard)
        self.seconds = seconds
        self.now = 0.0
        self.news: list[bool | ParachuteError] = []
        self.reports: list[Report | ParachuteError] = []
        self.looked: list[float] = []
        self.shown: list[bool] = []

    def run(self) -> list[float]:
        """The times at which all of the folder was looked at."""
        with pytest.raises(KeyboardInterrupt):
            follow(self._changes(), self._news, self._run, self._show, lambda: self.now)
        return self.looked

    def _changes(self) -> Iterator[object]:
        for each in self.heard:
            self.now += self.seconds
            yield {"changed"} if each else set()
        raise KeyboardInterrupt

    def _news(self) -> bool:
        found = self.news.pop(0) if self.news else False
        if isinstance(found, ParachuteError):
            raise found
        return found

    def _run(self) -> Report:
        self.looked.append(self.now)
        found = self.reports.pop(0) if self.reports else Report()
        if isinstance(found, ParachuteError):
            raise found
        return found

    def _show(self, report: Report, is_new: bool) -> None:
        self.shown.append(is_new)


def test_a_folder_is_looked_at_once_more_when_the_system_listens() -> None:
    follower = _Follower(*[False] * 20)
    assert follower.run() == [0, 15]
    assert follower.shown == [True, False]


def test_a_change_here_or_news_of_the_computer_is_a_reason() -> None:
    follower = _Follower(False, False, True, False, False)
    follower.news = [False, True]
    assert follower.run() == [0, 15, 45, 60]


def test_all_is_looked_at_after_some_minutes() -> None:
    assert _Follower(*[False] * 50).run() == [0, 15, 630]


def test_what_failed_is_tried_again_and_what_is_left_alone_is_not() -> None:
    follower = _Follower(*[False] * 6)
    left = {"a.icloud": "iCloud keeps it elsewhere"}
    follower.reports = [Report(left=left), Report(left=left, is_unfinished=True), Report(left=left)]
    assert follower.run() == [0, 15, 30]
    assert follower.shown == [True, False, False]


def test_a_computer_that_is_away_is_asked_less_often_and_then_all_is_looked_at() -> None:
    follower = _Follower(*[False] * 12)
    follower.news = [Unavailable("Away.", key="api_silent")]
    follower.reports = [Report(), Report(), Unavailable("Away.", key="api_silent")]
    assert follower.run() == [0, 15, 45, 75]


def test_what_cannot_get_better_ends_it() -> None:
    follower = _Follower(False)
    follower.reports = [Conflict("Another vault.", key="other_vault")]
    with raises("other_vault"):
        follow(follower._changes(), follower._news, follower._run, follower._show, lambda: 0)
