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
_SPANISH = (
    " a al algo alguien algún alguna algunos ante antes aquel aquella así aunque bajo bien cada casi como cómo con contra cual cuál "
    "cuales cuando cuándo cuánto cuántos de del desde donde dónde durante e el él ella ellas ellos en entre era eran es esa esas ese "
    "eso esos esta está están estas este esto estos fue fueron ha han hasta hay la las le les lo los más me mi mis mucho muy nada ni "
    "no nos nosotros nuestra nuestro o os otra otro para pero poco por porque qué que quien quién quiénes se ser si sí sin sobre son "
    "su sus también tan te tiene tienen tu tus un una unas uno unos y ya yo"
)
_FRENCH = (
    " à a ai alors après as au aucun aussi autre aux avait avant avec avoir bien c ça car ce cela ces cet cette ceux chez comme "
    "comment d dans de depuis des donc dont du elle elles en encore est et était étaient être eu fait il ils j je jusqu l la là le "
    "les leur leurs lui m ma mais me même mes moi mon n ne ni nos notre nous on ont ou où par pas peu plus pour pourquoi qu quand "
    "que quel quelle quelles quels qui quoi s sa sans se ses si son sont sous sur t ta te tes toi ton tous tout toute toutes très tu "
    "un une vos votre vous y"
)
_LANGUAGES = tuple(frozenset(words.split()) for words in (_ENGLISH, _GERMAN, _SPANISH, _FRENCH))
_ALSO_NOUNS = "ante car die era hay man plus pour sans sin son tan ton war"
_NOUNS = frozenset(_ALSO_NOUNS.split())
"""Words of another language, too, which are small ones only beside others of their own."""


def keywords(words: Sequence[str]) -> list[str]:
    """Words without those that any sentence in English, German, Spanish or French has; all of them where there are no others."""
    asked = [word.lower() for word in words]
    spoken = [small for small in _LANGUAGES if small.intersection(asked) - _NOUNS]
    small = frozenset[str]().union(*_LANGUAGES) - _NOUNS
    small |= _NOUNS.intersection(word for own in spoken for word in own)
    return [word for word, lowered in zip(words, asked, strict=True) if lowered not in small] or list(words)
