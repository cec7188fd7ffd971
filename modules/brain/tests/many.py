"""A vault with many entities, the same each time, for measuring."""

import random
from pathlib import Path

LINKS_EACH = 10
SYLLABLES = [
    "an",
    "ber",
    "cor",
    "da",
    "el",
    "fin",
    "gar",
    "ho",
    "is",
    "jun",
    "kal",
    "lor",
    "mi",
    "nor",
    "ost",
    "per",
    "qui",
    "ras",
    "sten",
    "tor",
    "ul",
    "ver",
    "wil",
    "xen",
    "yor",
    "zan",
]
TYPES = {"people": "person", "projects": "project", "topics": "topic", "resources": "resource"}
chance = random.Random(7)  # noqa: S311 - the same vault each time


def word() -> str:
    return "".join(chance.choice(SYLLABLES) for _ in range(chance.randint(2, 3)))


WORDS = [word() for _ in range(4_000)]


def write_vault(vault: Path, count: int) -> list[str]:
    """Entities with names of two words, an alias, links and three paragraphs each."""
    names = [f"{chance.choice(WORDS).title()} {word().title()}" for _ in range(count)]
    for number, name in enumerate(names):
        folder = chance.choice(list(TYPES))
        links = [f"- [[{chance.choice(names)}]] - {chance.choice(WORDS)}" for _ in range(LINKS_EACH)]
        text = "\n\n".join(" ".join(chance.choices(WORDS, k=60)) for _ in range(3))
        path = vault / "Brain" / "entities" / folder / f"{name.lower().replace(' ', '-')}-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"---\npara_id: para:brain:{number:012}\ntype: {TYPES[folder]}\nstatus: active\naliases:\n  - {word()} {number}\n"
            f"tags:\n  - {chance.choice(WORDS)}\n---\n\n# {name}\n\n{text}\n\n## Relationships\n"
            + "\n".join(links)
            + "\n"
        )
    return names


def misspelt(name: str) -> str:
    place = chance.randrange(1, len(name) - 1)
    return name[:place] + name[place + 1] + name[place] + name[place + 2 :]
