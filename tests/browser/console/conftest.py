"""One browser and one furnished computer for the tests of a file."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.console.people import DESKTOP, PHONE, Person, computer_with, server_with
from tests.support.installation import Installation
from tests.support.messages_api import MessagesAPI, text

MakePerson = Callable[..., Person]


@pytest.fixture(scope="module")
def model() -> Iterator[MessagesAPI]:
    """A model that answers Hello, or what a test scripts."""
    with MessagesAPI() as service:
        service.default(text("Hello."))
        yield service


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """Settings of the computer: a file that needs some has a fixture of this name."""
    return {}


@pytest.fixture(scope="module")
def computer(request: pytest.FixtureRequest, model: MessagesAPI, settings: dict[str, Any]) -> Iterator[Installation]:
    """A server in this process that asks that model, or a whole computer, which costs more, for a file that says `WHOLE = True`."""
    make = computer_with if getattr(request.module, "WHOLE", False) else server_with
    with make(model, **settings) as running:
        yield running


@pytest.fixture
def make_person(browser: Browser, computer: Installation) -> Iterator[MakePerson]:
    """Browsers that are signed in; at the end of a test none of their pages has complained."""
    people: list[Person] = []

    def make(size: dict[str, object] = DESKTOP, *, scopes: list[str] | None = None, **options: object) -> Person:
        person = Person(browser, computer, size, **options)
        people.append(person)
        person.sign_in(**({"scopes": scopes} if scopes else {}))
        return person

    yield make
    for person in people:
        person.context.close()
    assert [problem for person in people for problem in person.problems] == []


at_both_sizes = pytest.mark.parametrize("person", [PHONE, DESKTOP], ids=["phone", "desktop"], indirect=True)
"""For what is arranged otherwise on a small screen."""


@pytest.fixture
def person(request: pytest.FixtureRequest, make_person: MakePerson) -> Person:
    """The owner with a phone, or with what `at_both_sizes` says."""
    return make_person(getattr(request, "param", PHONE))
