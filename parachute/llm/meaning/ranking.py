"""The nearest texts by the scores of their parts."""

from collections.abc import Sequence
from typing import Any

from parachute.llm.meaning.models import Near


def nearest(keys: Sequence[str], scores: Any, limit: int, least: float) -> list[Near]:
    """Texts by the score of their best part, the nearest first, none below `least`; `keys` has the text of each part."""
    import numpy

    # A text may have any number of parts among the best.
    most = min(len(scores), limit * 4)
    likely = numpy.argpartition(-scores, most - 1)[:most]
    found: dict[str, float] = {}
    for place in likely[numpy.argsort(-scores[likely], kind="stable")]:
        if scores[place] < least or len(found) == limit:
            break
        found.setdefault(keys[place], min(1.0, round(float(scores[place]), 3)))
    return [Near(key, score) for key, score in found.items()]
