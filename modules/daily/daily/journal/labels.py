"""Tags and places of entries: words with a `#`, and what the front matter says of an entry or of its whole day."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from parachute.core import InvalidInput

Kind = Literal["tag", "place"]

LONGEST = 100
_MOST = 200
_ASKED = 10
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_WORD = rf"[\w/-]{{0,{LONGEST}}}"
_TAG = re.compile(rf"(?<![^\s(\[{{,;:!?\"'*_])#({_WORD}[^\W\d_]{_WORD})")
_SEPARATORS = re.compile(r"[,\s]+")


class Label(NamedTuple):
    """A tag, or a part of the name of a place such as its town, as it is written."""

    kind: Kind
    text: str

    @property
    def folded(self) -> str:
        """The form by which it is found: capitals make no difference."""
        return unicodedata.normalize("NFC", self.text).casefold()


@dataclass(frozen=True, slots=True)
class Only:
    """Conditions of a search: an entity that entries mention, and labels that they have, all of them."""

    about: str | None = None
    labels: tuple[Label, ...] = ()


ANY = Only()


def asked(about: str | None, tag: str | None, place: str | None) -> Only:
    """The conditions that a request names: tags and the parts of a place with commas between them; error: InvalidInput."""
    tags = [Label("tag", name) for each in (tag or "").split(",") if (name := each.strip().removeprefix("#"))]
    labels = [*tags, *(Label("place", part) for part in _parts(place or ""))]
    if (tag and not tags) or (place and len(labels) == len(tags)) or len(labels) > _ASKED:
        raise InvalidInput(f"tag, place: 1 to {_ASKED} names are expected.", key="labels_malformed")
    return Only(about, tuple(labels))


def tag_named(text: str) -> str:
    """A tag as it is written into an entry, without its `#`; error: InvalidInput for what is none."""
    found = _TAG.fullmatch(f"#{text.strip().removeprefix('#')}")
    if found is None or len(found[1]) > LONGEST:
        raise InvalidInput(
            f"tags: {text[:40]!r} is no tag: letters, digits, `_`, `-` and `/` are allowed, and one letter is needed.",
            key="tag_malformed",
        )
    return found[1]


def labels_of(content: str, fields: Mapping[str, Any], day: Iterable[Label] = ()) -> list[Label]:
    """The labels of an entry, each once: those of its text, its fields and its day. A tag within another counts for both."""
    words = (Label("tag", found[1]) for found in _TAG.finditer(_CODE.sub(" ", content) if "#" in content else ""))
    found = {(each.kind, each.folded): each for each in _levels([*words, *labels_of_fields(fields), *day])}
    return list(found.values())[:_MOST]


def labels_of_fields(fields: Mapping[str, Any]) -> list[Label]:
    """The labels that front matter names: `tags` as a list or one text, and `place`."""
    named = fields.get("tags")
    tags = _SEPARATORS.split(named) if isinstance(named, str) else named if isinstance(named, list) else []
    places = fields.get("place")
    return [
        *(Label("tag", name) for each in tags[:_MOST] if (name := str(each).strip().removeprefix("#")[:LONGEST])),
        *(Label("place", part) for each in _texts(places) for part in _parts(each)),
    ]


def _texts(value: Any) -> list[str]:
    return [each for each in (value if isinstance(value, list) else [value])[:_MOST] if isinstance(each, str)]


def _parts(place: str) -> list[str]:
    return [part[:LONGEST] for each in place.split(",") if (part := " ".join(each.split()))]


def _levels(labels: Iterable[Label]) -> Iterator[Label]:
    """Each label, and of a tag such as `travel/berlin` those above it."""
    for each in labels:
        yield each
        above = each.text.rpartition("/")[0].strip("/") if each.kind == "tag" else ""
        while above:
            yield Label("tag", above)
            above = above.rpartition("/")[0]
