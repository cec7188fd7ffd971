"""The computer's own events: each stands once, is shown whole, and no module can publish one of the computer's."""

from parachute.events.bus.catalogue import ALL, BY_NAME
from parachute.events.bus.models import checked_name
from parachute.events.feed.models import TOPICS
from parachute.events.hooks.models import SCRIPTS
from parachute.modules.registry.names import names_ok


def test_names_and_scripts_stand_once() -> None:
    assert [checked_name(event.name) for event in ALL] == list(BY_NAME)
    assert list(SCRIPTS.values()) == list(BY_NAME)


def test_every_event_says_what_it_means_and_changes() -> None:
    assert [event.name for event in ALL if not event.meaning.endswith(".") or not event.example] == []
    assert [event.topic for event in ALL if event.topic is not None and event.topic not in TOPICS] == []


def test_a_module_has_the_first_word_of_its_own_events_alone() -> None:
    for event in ALL:
        first = event.name.partition(".")[0]
        assert names_ok(first) == (event.topic is None), event.name
        assert event.topic is not None or event.module == first
