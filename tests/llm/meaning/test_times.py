"""Times of the year in questions and texts."""

import pytest

from parachute.llm.meaning.times import times_of


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("dentist before Christmas", "17 December: the crown is in."),
        ("what did we pick last autumn", "4 October: sixty kilos of quinces."),
        ("Wanderung im Frühling", "3. Mai: bis zur Burg."),
        ("vor Ostern", "Am 2. März gepflanzt."),
        ("Silvester", "31.12.: Raclette."),
        ("Ende Juli", "28. Juli: Ankunft."),
        ("lunes con el casero", "Lun.: firmamos."),
        ("noche de San Juan", "23 de junio: hoguera."),
        ("visite de l'été", "3 août : marée basse."),
        ("bilan d'avril", "15 avril : cholestérol."),
        ("rendez-vous de mardi", "Mar. : la conseillère refuse."),
        ("in winter", "2027-01-09\nSnow."),
        ("after New Year", "February 3rd: the gas bill."),
        ("29 February", "29 Feb: born."),
    ],
)
def test_a_question_meets_what_was_then(question: str, text: str) -> None:
    assert times_of(question).meets(times_of(text))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("before Christmas", "3 May: the crown is in."),
        ("vor Ostern", "Im Oktober gepflanzt."),
        ("Monday with the builder", "Sat: 2-3 at home."),
        ("early July", "28 July: arrival."),
        ("in winter", "A text without any day."),
        ("31 April", "version 1.2.3 of 48.213"),
    ],
)
def test_a_question_does_not_meet_another_time(question: str, text: str) -> None:
    assert not times_of(question).meets(times_of(text))


@pytest.mark.parametrize("question", ["not on Friday", "nicht am Freitag", "salvo el viernes", "sauf le vendredi"])
def test_what_was_not_then_is_asked_for(question: str) -> None:
    assert times_of(question).is_negated


@pytest.mark.parametrize("text", ["", "may I", "99.99. and 0000-00-00", "mar" * 10_000])
def test_other_texts_name_no_time_or_do_no_harm(text: str) -> None:
    times_of(text)


@pytest.mark.parametrize(
    "text", ["we may leave", "march on", "Jan wrote", "ai-je été soigné", "Señor Reyes llamó", "he sat down"]
)
def test_a_verb_or_a_name_is_no_time(text: str) -> None:
    assert not times_of(text)


@pytest.mark.parametrize(
    "text", ["in May", "3 March", "last Jan", "en été", "visite de l'été", "cabalgata de Reyes", "Sun: a walk"]
)
def test_the_same_word_is_a_time_beside_what_tells(text: str) -> None:
    assert times_of(text)
