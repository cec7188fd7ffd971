"""Time that passes when a test says so."""


class Clock:
    """Called for the seconds until now."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now
