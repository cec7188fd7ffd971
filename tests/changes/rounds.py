"""Rounds of random work: an agent in a view, an owner who saves meanwhile, further turns, kills, and an undo.

`python -m tests.changes.rounds ROUNDS [FIRST]` plays so many, each with its own number as its seed, and says what went wrong.
"""

import asyncio
import contextlib
import random
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from parachute.base.errors import NotFound
from tests.changes.listing import listed
from tests.changes.random_work import NAMES, own
from tests.changes.views import Overlay, World

_CRASHING = Path(__file__).with_name("crashing.py")
_WORDS = ("x", "yy", "zzz")
_WORK = (
    "mkdir -p {0}",
    "mkdir -p $(dirname {0}) && echo {2} > {0}",
    "echo {2} >> {0}",
    "mv -T {0} {1}",
    "rm -rf {0}",
    "rm -rf ./*",
    "rm -rf {0}; mkdir {0}; echo {2} > {0}/.envrc",
    "chmod 700 {0}",
    "chmod 755 {0}",
    "chmod 640 {0}",
    "ln -s {1} {0}",
    "cp -r {0} {1}",
)


class Round:
    """One project, one conversation."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._random = random.Random(seed)
        self._world = World(folder)
        self._theirs: dict[str, str] = {}
        """Conflicts that wait: the owner's version, which nobody may touch."""
        self.kills = self.saves = 0

    async def play(self) -> None:
        """Some turns, and an undo of the last one."""
        world, choose = self._world, self._random
        own(world.project, self._changes(6))
        async with world:
            for _ in range(choose.randint(1, 3)):
                await self._turn(self._script())
                state = listed(world.project)
                await self._turn("true", is_quiet=True)
                assert listed(world.project) == state, "a turn that does nothing has changed something"
                if choose.random() < 0.5:
                    self._save()
            self._save()
            before = listed(world.project)
            owners = await self._turn(self._script())
            after, waiting = listed(world.project), await world.reasons()
            await self._undo()
            found = listed(world.project)
            # What the owner saved meanwhile is left alone, with the folders that it lies in.
            apart = {str(each) for path in owners for each in (Path(path), *Path(path).parents)}
            for path in before.keys() | found.keys():
                is_theirs = path in apart or any(path.startswith(f"{each}/") for each in owners)
                assert is_theirs or before.get(path) == found.get(path), (
                    path,
                    [each.get(path) for each in (before, after, found)],
                    waiting,
                )
            self._check()

    async def _turn(self, script: str, *, is_quiet: bool = False) -> set[str]:
        """A turn as runs have it, which a kill may end; the paths that the owner has saved meanwhile."""
        world, choose = self._world, self._random
        if choose.random() < 0.3:
            await world.restart()
            await world.changes.refresh("s", world.project, world.view / "upper")
        elif await world.changes.is_stale("s"):
            await world.changes.refresh("s", world.project, world.view / "upper")
        saved: dict[str, str] = {}
        with await asyncio.to_thread(world.mounted) as view:
            self._number = await world.begin()
            self._check()
            for line in script.splitlines():
                await asyncio.to_thread(view.run, f"({line}) || true")
                if not is_quiet and choose.random() < 0.2:
                    saved |= self._save()
                if choose.random() < 0.3:
                    assert (await world.changes.apply("s")).problem is None
            if is_quiet or choose.random() < 0.6:
                await world.apply()
            else:
                await self._killed(view)
        self._check(saved)
        conflicts = {path for path, reason in (await world.reasons()).items() if reason == "conflict"}
        self._theirs |= {path: text for path, text in saved.items() if path in conflicts}
        self._theirs = {path: text for path, text in self._theirs.items() if path in conflicts}
        return set(saved)

    async def _killed(self, view: Overlay) -> None:
        """The server dies while it applies, once or twice, and the next one goes on."""
        world = self._world
        await world.database.close()
        for _ in range(self._random.randint(1, 2)):
            await self._crash("apply")
        view.close()
        await world.start()
        await world.changes.refresh("s", world.project, world.view / "upper")

    async def _undo(self) -> None:
        world = self._world
        if not await world.changes.history.entries(self._number):
            return
        if self._random.random() < 0.4:
            await world.database.close()
            await self._crash("undo")
            await world.start()
        with contextlib.suppress(NotFound):  # the killed one had come to its end
            await world.changes.undo("s", self._number)

    async def _crash(self, what: str) -> None:
        step = str(self._random.randint(1, 60))
        child = await asyncio.create_subprocess_exec(
            sys.executable, _CRASHING, self._world.folder, what, step, stderr=asyncio.subprocess.PIPE
        )
        said = (await child.communicate())[1].decode()
        assert child.returncode == -signal.SIGKILL or not child.returncode or "NotFound" in said, said
        self.kills += child.returncode == -signal.SIGKILL

    def _check(self, saved: dict[str, str] | None = None) -> None:
        for path, text in (self._theirs | (saved or {})).items():
            assert self._world.read(path) == text, f"{path} of the owner's is another one"

    def _save(self) -> dict[str, str]:
        """The owner saves some files; what waits of theirs, they know."""
        saved = own(self._world.project, [each for each in self._changes(2) if each[0] not in self._theirs])
        self.saves += len(saved)
        self._theirs |= {path: text for path, text in saved.items() if path in self._theirs}
        return saved

    def _script(self) -> str:
        lines = self._random.choices(_WORK, k=self._random.randint(1, 7))
        return "\n".join(each.format(self._path(), self._path(), self._random.choice(_WORDS)) for each in lines)

    def _changes(self, most: int) -> list[tuple[str, str]]:
        return [(self._path(), self._random.choice(_WORDS)) for _ in range(self._random.randint(1, most))]

    def _path(self) -> str:
        return "/".join(self._random.choices(NAMES, k=self._random.randint(1, 3)))


async def play(rounds: int, first: int = 0, say: Callable[[str], object] = str) -> list[str]:
    """Play so many rounds; what went wrong in which."""
    wrong, kills, saves = [], 0, 0
    for seed in range(first, first + rounds):
        with tempfile.TemporaryDirectory() as folder:
            played = Round(Path(folder), seed)
            try:
                await played.play()
            except (AssertionError, OSError) as error:
                wrong.append(f"round {seed}: {error!r}")
                say(f"{wrong[-1]}\n")
            kills, saves = kills + played.kills, saves + played.saves
    say(f"{rounds} rounds, {kills} kills, {saves} saves, {len(wrong)} wrong\n")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(asyncio.run(play(int(sys.argv[1]), int((*sys.argv, "0")[2]), sys.stdout.write))))
