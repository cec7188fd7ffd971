"""Words of texts, and finding texts by words that mean the same.

The best of a text's words counts for each word of a question. That finds more than comparing one vector of each text, the mean of its
words, in which a short question and a text about several things have little in common; `make bench ARGS=meaning` has the numbers.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from parachute.core.stopwords import keywords
from parachute.llm.meaning.models import Near
from parachute.llm.meaning.ranking import nearest
from parachute.llm.meaning.store import Model, Store
from parachute.llm.meaning.table import Table
from parachute.llm.meaning.trigrams import Trigrams

_WORD = re.compile(r"[^\W_]+")
_LONGEST = 40
_WORDS_A_PART, _MOST_PARTS = 80, 200
_MOST_ASKED = 24
_UNLIKE = 0.15
"""So alike any two words are."""
_SAYS_LITTLE = 0.2
"""A word that says so much less than the one that says most is left out of a question."""
_USUAL_WORDS, _SHORT, _LENGTH = 20, 8, 0.25
"""A longer text has more words that could fit by chance."""
_COMMON, _FEW, _SAME = 10, 100, 0.99
_GUESSED, _LETTERS, _ENOUGH_LETTERS = 0.5, 0.8, 0.4
"""Weight of the direction of a word that is not in the table, weight of its letters, and the share of equal letters that counts."""
_AT_ONCE = 4096


def words_of(text: str) -> list[str]:
    """The words of a text, in their order."""
    folded = unicodedata.normalize("NFC", text).lower()
    return [word for word in _WORD.findall(folded) if len(word) <= _LONGEST]


def parts_of(text: str) -> list[list[str]]:
    """The different words of each part of a text: a long one is about many things. At least one part."""
    words = words_of(text)[: _WORDS_A_PART * _MOST_PARTS]
    parts = [words[first : first + _WORDS_A_PART] for first in range(0, len(words), _WORDS_A_PART)]
    return [list(dict.fromkeys(part)) for part in parts] or [[]]


def read(store: Store, table: Table, model: Model, texts: Sequence[tuple[int, str, bytes]]) -> None:
    """Read texts with the table, and write what they hold."""
    import numpy

    parts = {number: parts_of(text) for number, text, _ in texts}
    wanted = dict.fromkeys(word for own in parts.values() for part in own for word in part)
    numbers = store.numbers(model, wanted)
    (first,) = store.connection.execute(
        "SELECT coalesce(max(number) + 1, 0) FROM words WHERE model = ?", (model.id,)
    ).fetchone()
    new = [word for word in wanted if word not in numbers]
    numbers |= {word: first + place for place, word in enumerate(new)}
    rows = [(numbers[word], word, *table.word(word)) for word in new]
    encoded = {
        number: [numpy.array([numbers[word] for word in part], "<u4").tobytes() for part in own]
        for number, own in parts.items()
    }
    store.write(model, rows, encoded)


class Vocabulary:
    """The words of one model, with their directions."""

    def __init__(self, store: Store, model: Model) -> None:
        import numpy

        query = "SELECT word, vector, weight FROM words WHERE model = ? ORDER BY number"
        self.numbers: dict[str, int] = {}
        weights: list[float] = []
        data = bytearray()
        for word, vector, weight in store.connection.execute(query, (model.id,)):
            self.numbers[word] = len(self.numbers)
            data += vector
            weights.append(weight)
        self.weights = numpy.array(weights, "f4")
        self.vectors = numpy.frombuffer(data, "i1").reshape(-1, model.dimension)
        lengths = [
            numpy.linalg.norm(self.vectors[first : first + _AT_ONCE].astype("f4"), axis=1)
            for first in range(0, len(self.vectors), _AT_ONCE)
        ]
        self.lengths = numpy.maximum(numpy.concatenate(lengths) if lengths else numpy.zeros(0, "f4"), 1e-6)
        self._trigrams: Trigrams | None = None

    def likeness_of_guessed(self, word: str, likeness: Any) -> Any:
        """Return the similarity of each word to one that is not in the table, by its letters as well as by its direction."""
        import numpy

        if self._trigrams is None:
            self._trigrams = Trigrams(self.numbers)
        letters = self._trigrams.likeness(word)
        likeness = likeness * _GUESSED
        if (number := self.numbers.get(word)) is not None:
            likeness[number] = 1
        return numpy.maximum(likeness, numpy.where(letters >= _ENOUGH_LETTERS, letters * _LETTERS, 0))

    def likeness(self, vectors: Any) -> Any:
        """Return the similarity of each word to each of some directions, from 0 to 1: a row for each direction."""
        import numpy

        found = numpy.empty((len(vectors), len(self.vectors)), "f4")
        for first in range(0, len(self.vectors), _AT_ONCE):
            rows = slice(first, first + _AT_ONCE)
            found[:, rows] = (vectors @ self.vectors[rows].astype("f4").T) / self.lengths[rows]
        return numpy.maximum(found - _UNLIKE, 0) / (1 - _UNLIKE)


class Collection:
    """The texts of one collection, by their words."""

    def __init__(self, store: Store, model: Model, vocabulary: Vocabulary, name: str) -> None:
        import numpy

        self._vocabulary = vocabulary
        query = (
            "SELECT texts.key, parts.words FROM texts JOIN parts ON parts.model = ? AND parts.text = texts.number "
            "WHERE texts.collection = ? ORDER BY texts.number, parts.part"
        )
        self._keys: list[str] = []
        data = bytearray()
        counts: list[int] = []
        for key, words in store.connection.execute(query, (model.id, name)):
            self._keys.append(key)
            counts.append(len(words) // 4)
            data += words
        words = numpy.frombuffer(data, "<u4")
        size = len(vocabulary.numbers)
        parts = numpy.repeat(numpy.arange(len(counts), dtype="u4"), counts)
        inside = words < size  # a word that was written meanwhile is not in this vocabulary yet
        words, parts = words[inside], parts[inside]
        self._parts = parts[numpy.argsort(words, kind="stable")]
        self._frequency = numpy.bincount(words, minlength=size)
        self._starts = numpy.concatenate([[0], numpy.cumsum(self._frequency)])
        self._length = ((numpy.array(counts, "f4") + _SHORT) / _USUAL_WORDS) ** _LENGTH

    def find(self, table: Table, question: str, limit: int, least: float) -> list[Near]:
        """The texts that are nearest to a question, the nearest first; none below `least`."""
        import numpy

        asked = list(dict.fromkeys(keywords(words_of(question))))[:_MOST_ASKED]
        if not asked or not self._keys:
            return []
        vectors, weights = self._asked(table, asked)
        chosen = weights > _SAYS_LITTLE * weights.max()
        vectors, weights = vectors[chosen], weights[chosen]
        asked = [word for word, is_chosen in zip(asked, chosen, strict=True) if is_chosen]
        if not len(weights) or not weights.sum():
            return []
        scores = numpy.zeros(len(self._keys), "f4")
        for word, likeness, weight in zip(asked, self._vocabulary.likeness(vectors), weights, strict=True):
            if table.guesses(word):
                likeness = self._vocabulary.likeness_of_guessed(word, likeness)
            scores += weight * self._best(likeness)
        scores /= weights.sum() * numpy.maximum(self._length, 1e-6)
        return nearest(self._keys, scores, limit, least)

    def _asked(self, table: Table, asked: Iterable[str]) -> tuple[Any, Any]:
        import numpy

        vectors, weights = [], []
        for word in asked:
            vector, weight = table.word(word)
            number = self._vocabulary.numbers.get(word)
            known = 0 if number is None else int(self._frequency[number])
            rare = numpy.log((len(self._keys) + 1) / (known + 1))
            direction = numpy.frombuffer(vector, "i1").astype("f4")
            length = float(numpy.linalg.norm(direction))
            vectors.append(direction / length if length else direction)
            weights.append(rare * weight if length else 0.0)
        return numpy.array(vectors, "f4"), numpy.array(weights, "f4")

    def _best(self, likeness: Any) -> Any:
        """For each part how alike its best word is."""
        import numpy

        words = numpy.flatnonzero(likeness)
        # What so many texts have tells none of them apart, unless it was asked for itself.
        common = self._frequency[words] > max(_FEW, len(self._keys) // _COMMON)
        words = words[~common | (likeness[words] > _SAME)]
        words = words[numpy.argsort(likeness[words], kind="stable")]
        counts = self._frequency[words]
        total = int(counts.sum())
        best = numpy.zeros(len(self._keys), "f4")
        if total:
            ends = numpy.cumsum(counts)
            places = (
                numpy.arange(total) - numpy.repeat(ends - counts, counts) + numpy.repeat(self._starts[words], counts)
            )
            # In this order the best word of a part comes last, and stays.
            best[self._parts[places]] = numpy.repeat(likeness[words], counts)
        return best
