"""Runs under way: built before what begins them, for those who wait for their end."""

from parachute.chat.runs.run import Run


class ActiveRuns(dict[str, Run]):
    """The runs under way, by session; `Runs` alone adds and removes them."""
