"""The console in German: its own texts, and sentences of the server with the values in them."""

import pytest
from playwright.sync_api import expect

from tests.browser.console.conftest import MakePerson

pytestmark = pytest.mark.long


def test_the_servers_sentences_are_in_the_language_of_the_browser(make_person: MakePerson) -> None:
    person = make_person(locale="de-DE")
    person.page.goto(f"{person.computer.url}/#/chat/00000000-0000-4000-8000-000000000000")
    expect(person.page.get_by_text("Es gibt keine Sitzung '00000000-0000-4000-8000-000000000000'.")).to_be_visible()
    person.problems.clear()  # The browser complains about the 404 itself.


def test_a_sentence_without_a_translation_stays_english(make_person: MakePerson) -> None:
    person = make_person(locale="fr-FR")
    person.page.goto(f"{person.computer.url}/#/chat/00000000-0000-4000-8000-000000000000")
    expect(person.page.get_by_text("There is no session '00000000-0000-4000-8000-000000000000'.")).to_be_visible()
    person.problems.clear()
