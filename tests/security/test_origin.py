"""The order of origins, and what may come of each."""

import itertools

import pytest

from parachute.security.origin import Origin, lowest

ORDER = ("owner", "own_file", "agent_file", "web", "remote_mcp", "guest", "import", "untrusted_module")


def test_each_is_below_those_before_it() -> None:
    assert tuple(Origin) == ORDER
    for higher, lower in itertools.combinations(map(Origin, ORDER), 2):
        assert lower.is_below(higher)
        assert not higher.is_below(lower)
        assert lowest(higher, lower) is lowest(lower, higher) is lower
    assert lowest() is Origin.OWNER


def test_only_the_owner_instructs_and_nothing_of_others_is_recorded() -> None:
    assert [origin for origin in Origin if origin.may_instruct] == ["owner"]
    assert [origin for origin in Origin if origin.may_record] == ["owner", "own_file", "agent_file"]


def test_an_unknown_word_is_an_error_and_each_has_words_of_its_own() -> None:
    with pytest.raises(ValueError, match="friend"):
        Origin("friend")
    assert len({origin.words for origin in Origin}) == len(ORDER)
