"""Runs under way: built before what begins them, for those who wait for their end."""

from parachute.chat.agent_processes.pool import AgentPool
from parachute.chat.runs.run import Run


class ActiveRuns(dict[str, Run]):
    """The runs under way, by session; `Runs` alone adds and removes them. Of those that are `reserved` one is about to begin."""

    def __init__(self) -> None:
        super().__init__()
        self.reserved: set[str] = set()

    def uses(self, session: str) -> bool:
        """Return True while a session is being answered, or about to be."""
        return session in self or session in self.reserved

    async def begin_anew(self, pool: AgentPool, session: str) -> None:
        """End what is kept of a session that is not being answered: its next turn begins with what it may use now."""
        if not self.uses(session):
            await pool.discard(session)
