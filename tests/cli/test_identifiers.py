"""Ids that are typed in part."""

import pytest

from parachute.base.errors import InvalidInput, NotFound
from parachute.cli.identifiers import short, whole

IDS = ["para:daily:abc", "para:daily:abcd", "0d6a3f0e-6c1d"]


@pytest.mark.parametrize(
    ("typed", "meant"), [("abcd", IDS[1]), ("abc", IDS[0]), ("para:daily:abc", IDS[0]), ("0d", IDS[2])]
)
def test_the_beginning_of_one_id_is_enough(typed: str, meant: str) -> None:
    assert whole(typed, IDS, "entry", "List them.") == meant


@pytest.mark.parametrize(("typed", "kind"), [("ab", InvalidInput), ("x", NotFound), ("", NotFound)])
def test_what_several_or_none_have_is_an_error(typed: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        whole(typed, IDS, "entry", "List them.")


def test_an_id_is_shortened_to_what_tells_it_apart() -> None:
    assert (short("para:daily:a1b2c3d4e5f6"), short("0d6a3f0e-6c1d")) == ("a1b2c3d4", "0d6a3f0e")
