"""The words of one language that say what is a name and what is none."""

from dataclasses import dataclass


def words(text: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(text.split())


def parts(text: str) -> tuple[str, ...]:
    """The beginnings or endings of words of a list."""
    return tuple(text.split())


@dataclass(frozen=True, slots=True)
class Language:
    """Lists in small letters. `common` words name nothing and tell the language; `things` name nothing though written large.

    Before a name stand people's `titles`, the `kinds` that are said beside it with the type of each, and `with_people`; after it what
    only people do (`doing`). `deeds` are those of its whole sentence. `to_places` stand before places. `titled` works are read or seen.
    `news` are beginnings of words by which a sentence tells something that lasts. `nouns_are_large` as in German, where then
    `determiners` stand before nouns and not before names, and `endings` are those of nouns.
    """

    code: str
    common: frozenset[str]
    things: frozenset[str]
    titles: frozenset[str]
    kinds: dict[str, str]
    with_people: frozenset[str]
    doing: frozenset[str]
    deeds: frozenset[str]
    news: tuple[str, ...]
    titled: frozenset[str] = frozenset()
    meetings: frozenset[str] = frozenset()
    to_places: frozenset[str] = frozenset()
    journeys: frozenset[str] = frozenset()
    determiners: frozenset[str] = frozenset()
    endings: tuple[str, ...] = ()
    nouns_are_large: bool = False
