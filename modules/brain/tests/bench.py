"""Speed of Brain with 10,000 entities and 100,000 links: `python modules/brain/tests/bench.py [entities]`.

It runs the module in memory as its tests do; times include everything but HTTP.
"""

import asyncio
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from many import SYLLABLES, WORDS, chance, misspelt, word, write_vault
from module import BrainModule

from parachute.core.testing import Running, run


async def timed(what: str, budget: float, calls: list[Callable[[], Awaitable[object]]]) -> None:
    """The 95th percentile of some calls in milliseconds; processor time too, since other programs may be busy."""
    spent, worked = [], []
    for call in calls:
        begin, before = time.perf_counter(), time.process_time()
        await call()
        spent.append((time.perf_counter() - begin) * 1000)
        worked.append((time.process_time() - before) * 1000)
    p95, processor = statistics.quantiles(spent, n=20)[-1], statistics.quantiles(worked, n=20)[-1]
    median = statistics.median(spent)
    sys.stdout.write(
        f"{what:<34} p50 {median:6.1f} ms   p95 {p95:6.1f} ms   processor p95 {processor:6.1f} ms   budget {budget:g} ms\n"
    )


async def measure(brain: Running, names: list[str]) -> None:
    module = brain.module
    some = chance.sample(names, min(300, len(names)))
    await timed("resolve: exact", 5, [lambda n=n: module.resolve(n) for n in some])  # type: ignore[misc]
    await timed("resolve: misspelt", 5, [lambda n=n: module.resolve(misspelt(n)) for n in some])  # type: ignore[misc]
    await timed("resolve: unknown", 5, [lambda: module.resolve(f"{word()} {word()}") for _ in some])
    await timed("search: one word", 20, [lambda: module.search(chance.choice(WORDS)) for _ in some])
    await timed("search: two words", 20, [lambda: module.search(" ".join(chance.choices(WORDS, k=2))) for _ in some])
    await timed("search: beginning of a word", 20, [lambda: module.search(chance.choice(SYLLABLES)) for _ in some])
    texts = []
    for _ in range(60):
        parts = chance.choices(WORDS, k=940) + chance.choices(names, k=30)
        chance.shuffle(parts)
        texts.append(" ".join(parts))
    await timed("suggest: 1,000 words", 30, [lambda t=t: module.suggest(t) for t in texts])  # type: ignore[misc]
    await timed("context", 50, [lambda n=n: module.context(n) for n in some[:100]])  # type: ignore[misc]
    changed = sorted((brain.vault / "Brain/entities").rglob("*.md"))[:100]

    async def edited(path: Path) -> None:
        path.write_text(path.read_text() + "\nMore.\n")
        await brain.emit("vault.changed", paths=[str(path.relative_to(brain.vault))])

    await timed("an edit by hand until it is found", 1000, [lambda p=p: edited(p) for p in changed])  # type: ignore[misc]


async def main(count: int) -> None:
    with tempfile.TemporaryDirectory(prefix="brain-bench-") as folder:
        names = write_vault(Path(folder) / "vault", count)
        begin = time.perf_counter()
        async with run(BrainModule, folder=Path(folder)) as brain:
            await brain.module.brain.settled()
            sys.stdout.write(f"cold build of {count:,} entities: {time.perf_counter() - begin:.1f} s   budget 30 s\n")
            await measure(brain, names)
            begin = time.perf_counter()
            async for _ in brain.module.brain.rebuild():
                pass
            sys.stdout.write(f"rebuild: {time.perf_counter() - begin:.1f} s   budget 30 s\n")
        begin = time.perf_counter()
        async with run(BrainModule, folder=Path(folder)):
            sys.stdout.write(f"start with nothing changed: {(time.perf_counter() - begin) * 1000:.0f} ms\n")
        size = sum(path.stat().st_size for path in (Path(folder) / "data").rglob("*") if path.is_file())
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        sys.stdout.write(f"index {size / 1e6:.0f} MB on disk, most memory of this process {most:.0f} MB\n")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
