"""Numbers of what a search looked through, for its answer."""

from parachute.base.answers import Answer


class Searched(Answer, frozen=True):
    """Numbers of a search: `count` things of its kind, and of the texts of the index `waiting` of `total` are not read yet."""

    count: int
    waiting: int
    total: int
