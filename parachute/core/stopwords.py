"""Keywords and stop words of a query."""

from collections.abc import Sequence

_ENGLISH = (
    "a about after again all am an and any are as at be been before but by can could did do does down for from had has have "
    "he her here his how i if in into is it its may me might must my no nor not of on one or our out over shall she should "
    "so some somebody someone something than that the their them then there these they this those to too up us very was we "
    "were what when where which who whom why will with would you your "
)
_GERMAN = (
    "aber als am an auch auf aus bei beim da dann das dem den der des dich die dir du ein eine einem einen einer eines er es "
    "etwas für habe haben hat hatte hatten hier ich ihm ihn ihr ihre im ist jemand kann kein keine keinen können man mein "
    "meine meinen mich mir mit muss nach nicht oder sehr sein sich sie sind so soll um und uns unser unsere unter über von "
    "vor wann war waren warum was welche welcher welches wem wen wenn wer werden wie will wir wird wo würde zu zum zur"
)
_ANY = frozenset(f"{_ENGLISH}{_GERMAN}".split())


def keywords(words: Sequence[str]) -> list[str]:
    """Words without those that any sentence in English or German has; all of them where there are no others."""
    return [word for word in words if word.lower() not in _ANY] or list(words)
