"""Texts that answer none of the questions: sentences of a hundred small things, put together in many ways."""

import itertools
import random
from collections.abc import Iterator

_ENGLISH = (
    (
        "Bought {a} for the {b}, {c}.",
        "{c}: the {b} needs {a}.",
        "The {b} again, this time {a}; {c}.",
        "Asked Ruth about {a}, since the {b} {d}.",
        "Note to myself, {c}: {a}, then the {b}.",
        "Somebody left {a} beside the {b}. It {d}.",
        "{c} the {b} {d}, and I thought of {a}.",
        "A long talk about {a}. Later the {b} {d}.",
    ),
    (
        "a roll of tape", "two candles", "the green folder", "a new mop", "stamps", "a ladder of the neighbours", "oat milk",
        "three envelopes", "a bag of gravel", "the wrong screws", "cinnamon", "printer paper", "an umbrella", "rubber gloves",
        "a jar of honey", "a calendar", "fresh towels", "the old radio", "a map of the county", "light bulbs", "cardboard",
        "a pair of scissors", "the tax forms", "a bucket of sand", "sunflower seeds", "the blue paint", "a spare tyre",
    ),
    (
        "shed", "balcony", "printer", "kitchen", "office", "club house", "playground", "staircase", "workshop", "spare room",
        "bakery", "quarterly report", "greenhouse", "newsletter", "aquarium", "spreadsheet", "garage", "town hall", "harbour",
        "bookshelf", "flea market", "allotment", "orchestra", "laundry", "street lamp",
    ),
    (
        "on Monday", "before lunch", "as always", "in the rain", "without hurry", "late in the evening", "for the third time",
        "with Claire", "after the news", "at last", "in a bad mood", "on the way home", "first thing in the morning", "by mistake",
    ),
    (
        "was closed", "looked better than last week", "smelled of soap", "made everyone laugh", "stayed empty", "took all day",
        "was full of people", "had changed", "cost less than expected", "was cleaner than ours", "waited for me", "leaned a little",
    ),
)  # fmt: skip
_GERMAN = (
    (
        "Für {b} {a} gekauft, {c}.",
        "{c}: zu {b} fehlt noch {a}.",
        "Wieder {b}, diesmal {a}; {c}.",
        "Ruth nach {a} gefragt, weil {b} {d}.",
        "Merkzettel, {c}: {a}, dann {b}.",
        "Jemand hat {a} vergessen, gleich bei {b}. Das {d}.",
        "{c} hieß es, {b} {d}, und ich dachte an {a}.",
        "Langes Gespräch über {a}. Später {d} {b}.",
    ),
    (
        "eine Rolle Klebeband", "zwei Kerzen", "die grüne Mappe", "ein neuer Wischer", "Briefmarken", "die Leiter von nebenan",
        "Hafermilch", "drei Umschläge", "ein Sack Kies", "die falschen Schrauben", "Zimt", "Druckerpapier", "ein Schirm",
        "Gummihandschuhe", "ein Glas Honig", "ein Kalender", "frische Handtücher", "das alte Radio", "eine Karte vom Landkreis",
        "Glühbirnen", "Pappe", "eine Schere", "die Formulare", "ein Eimer Sand", "Sonnenblumenkerne", "die blaue Farbe",
    ),
    (
        "der Schuppen", "der Balkon", "der Drucker", "die Küche", "das Büro", "das Vereinsheim", "der Spielplatz", "die Treppe",
        "die Werkstatt", "das Gästezimmer", "die Bäckerei", "der Quartalsbericht", "das Gewächshaus", "der Rundbrief",
        "das Aquarium", "die Tabelle", "die Garage", "das Rathaus", "der Hafen", "das Bücherregal", "der Flohmarkt",
    ),
    (
        "am Montag", "vor dem Essen", "wie immer", "im Regen", "ohne Eile", "spät am Abend", "zum dritten Mal", "mit Klara",
        "nach den Nachrichten", "endlich", "schlecht gelaunt", "auf dem Heimweg", "gleich in der Früh", "aus Versehen",
    ),
    (
        "war zu", "sah besser aus als letzte Woche", "roch nach Seife", "brachte alle zum Lachen", "blieb leer",
        "dauerte den ganzen Tag", "war voller Leute", "hatte sich verändert", "war billiger als gedacht", "wartete auf mich",
    ),
)  # fmt: skip


def texts(count: int) -> Iterator[str]:
    """Some texts, half of each language, the same ones each time."""
    chance = random.Random(20)
    seen: set[str] = set()
    for shapes, a, b, c, d in itertools.cycle((_ENGLISH, _GERMAN)):
        words = {"a": chance.choice(a), "b": chance.choice(b), "c": chance.choice(c), "d": chance.choice(d)}
        first = chance.choice(shapes).format(**words)
        words = {"a": chance.choice(a), "b": chance.choice(b), "c": chance.choice(c), "d": chance.choice(d)}
        second = chance.choice(shapes).format(**words) if chance.random() < 0.6 else ""
        text = f"{first[0].upper()}{first[1:]} {second[:1].upper()}{second[1:]}".strip()
        if text not in seen:
            seen.add(text)
            yield text
        if len(seen) == count:
            return
