"""Modules that can be enabled beside each other, and their order."""

import itertools
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parachute.modules.manifest.models import InterfaceName, Manifest, ToolDeclaration
from parachute.modules.registry.interfaces import check_fits, order
from tests.support.errors import raises


def module(name: str, provides: str = "", uses: str = "", tools: str = "") -> Manifest:
    """A manifest; interfaces and tools are separated by spaces."""
    return Manifest(
        name,
        "1.0.0",
        "module.py",
        provides=tuple(map(InterfaceName.parse, provides.split())),
        optional_requires=tuple(map(InterfaceName.parse, uses.split())),
        mcp_tools=tuple(ToolDeclaration(tool, "Does something") for tool in tools.split()),
    )


@pytest.mark.parametrize(
    ("new", "enabled", "key"),
    [
        (
            module("mind", provides="BrainInterface"),
            module("brain", provides="BrainInterface"),
            "interface_taken",
        ),
        (
            module("mind", provides="BrainInterface@2.0"),
            module("brain", provides="BrainInterface"),
            "interface_taken",
        ),
        (
            module("daily", uses="BrainInterface@1.2"),
            module("brain", provides="BrainInterface@1.1"),
            "interface_differs",
        ),
        (
            module("daily", uses="BrainInterface@1.2"),
            module("brain", provides="BrainInterface@2.3"),
            "interface_differs",
        ),
        (
            module("brain", provides="BrainInterface@2.0"),
            module("daily", uses="BrainInterface"),
            "interface_differs",
        ),
        (module("two", tools="a search"), module("one", tools="search"), "tool_taken"),
    ],
)
def test_what_does_not_fit_is_refused(new: Manifest, enabled: Manifest, key: str) -> None:
    with raises(key) as refused:
        check_fits(new, [module("another"), enabled])
    assert f"parachute modules disable {enabled.name}" in str(refused.value)


@pytest.mark.parametrize(
    ("new", "enabled"),
    [
        (module("daily", uses="BrainInterface@1.2"), module("brain", provides="BrainInterface@1.2")),
        (module("daily", uses="BrainInterface@1.2"), module("brain", provides="BrainInterface@1.3")),
        (module("brain", provides="BrainInterface@1.3"), module("daily", uses="BrainInterface@1.2")),
        (module("daily", uses="BrainInterface@9.9"), module("chat", provides="ConversationInterface")),
        (module("daily", uses="BrainInterface@1.2"), module("chat", uses="BrainInterface@2.0")),
        # What it was before its own update.
        (
            module("brain", provides="BrainInterface@2.0", tools="search"),
            module("brain", provides="BrainInterface", tools="search"),
        ),
    ],
)
def test_what_fits_is_let_through(new: Manifest, enabled: Manifest) -> None:
    check_fits(new, [enabled])


def test_providers_come_first() -> None:
    manifests = [
        module("alpha", uses="BrainInterface JournalInterface NobodyInterface"),
        module("brain", provides="BrainInterface", uses="JournalInterface"),
        module("daily", provides="JournalInterface"),
        module("zebra"),
    ]
    for shuffled in itertools.permutations(manifests):
        assert order(shuffled) == ["daily", "brain", "alpha", "zebra"]


def test_a_circle_begins_with_its_first_name_and_those_who_need_it_come_later() -> None:
    manifests = [
        module("alpha", uses="ChatInterface"),
        module("brain", provides="BrainInterface", uses="ChatInterface"),
        module("chat", provides="ChatInterface", uses="JournalInterface"),
        module("daily", provides="JournalInterface", uses="BrainInterface"),
    ]
    for shuffled in itertools.permutations(manifests):
        # chat needs daily, daily needs brain: after brain the rest is no circle any more.
        assert order(shuffled) == ["brain", "daily", "chat", "alpha"]


NAMES = "abcdefg"


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from(NAMES), st.sets(st.sampled_from(NAMES)), max_size=len(NAMES)), st.randoms())
def test_everybody_comes_once_and_after_what_it_needs(needs: dict[str, set[str]], random: Random) -> None:
    manifests = [
        module(name, f"{name.upper()}OwnInterface", " ".join(f"{each.upper()}OwnInterface" for each in used - {name}))
        for name, used in needs.items()
    ]
    found = order(manifests)
    assert sorted(found) == sorted(needs)
    random.shuffle(manifests)
    assert order(manifests) == found
    reached = {name: {name} for name in needs}
    for _ in needs:
        reached = {
            name: set.union(others, *(needs[other] & needs.keys() for other in others))
            for name, others in reached.items()
        }
    for name, used in needs.items():
        for other in used & needs.keys():
            if name not in reached[other]:
                assert found.index(other) < found.index(name)
