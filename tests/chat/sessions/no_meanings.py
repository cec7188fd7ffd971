"""Search by meaning that finds nothing, for tests of the words."""

from parachute.llm.meaning.searched import Searched


class NoMeanings:
    """A `MeaningSearch` without an index."""

    progress = 0

    def changed(self, session: str) -> None:
        """Do nothing."""

    async def find(self, question: str, sure: int) -> list[str]:
        """Return none."""
        return []

    def searched(self, count: int) -> Searched:
        """Return that nothing waits."""
        return Searched(count, 0, 0)
