"""Words for times of the year in English, German, Spanish and French, folded: small letters without accents."""

import unicodedata


def folded(text: str) -> str:
    """A text in small letters without accents."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))


def _numbered(*languages: str) -> dict[str, int]:
    """Words by their place in each line; those that mean the same are joined by `/`."""
    return {
        word: number for line in languages for number, words in enumerate(line.split(), 1) for word in words.split("/")
    }


MONTHS = _numbered(
    "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sept/sep october/oct november/nov december/dec",
    "januar/janner/jan februar/feb marz/mrz april mai juni juli august september oktober/okt november dezember/dez",
    "enero/ene febrero marzo abril/abr mayo junio julio agosto/ago septiembre/setiembre octubre noviembre diciembre/dic",
    "janvier/janv fevrier/fevr mars avril mai juin juillet/juil aout septembre octobre novembre decembre",
)
WEEKDAYS = _numbered(
    "monday/mondays tuesday/tuesdays wednesday/wednesdays thursday/thursdays friday/fridays saturday/saturdays sunday/sundays",
    "montag/montags dienstag/dienstags mittwoch/mittwochs donnerstag/donnerstags freitag/freitags samstag/samstags/sonnabend sonntag/sonntags",
    "lunes martes miercoles jueves viernes sabado/sabados domingo/domingos",
    "lundi mardi mercredi jeudi vendredi samedi dimanche",
)
ABBREVIATED = _numbered(
    "mon tue/tues wed thu/thur/thurs fri sat sun",
    "mo di mi do fr sa so",
    "lun mar mie jue vie sab dom",
    "lun mar mer jeu ven sam dim",
)
"""Days of the week as a line of a diary begins with them, before a point or a colon."""

Span = tuple[tuple[int, int], tuple[int, int]]
"""Month and day of the first and of the last day; the last may come earlier in the year."""


def _spans(*lines: tuple[Span, str]) -> dict[str, Span]:
    return {word: span for span, words in lines for word in words.split("/")}


TIMES = _spans(
    (((3, 1), (5, 31)), "spring/springtime/fruhling/fruhjahr/primavera/printemps"),
    (((6, 1), (8, 31)), "summer/sommer/verano/ete"),
    (((9, 1), (11, 30)), "autumn/herbst/otono/automne"),
    (((12, 1), (2, 29)), "winter/invierno/hiver"),
    (((12, 24), (12, 26)), "christmas/xmas/christmas eve/weihnachten/weihnachts/heiligabend/navidad/nochebuena/noel"),
    (((12, 31), (12, 31)), "new year's eve/silvester/nochevieja/saint-sylvestre/la saint sylvestre"),
    (((1, 1), (1, 1)), "new year/new year's day/neujahr/ano nuevo/jour de l'an/nouvel an"),
    (((1, 5), (1, 6)), "epiphany/twelfth night/dreikonig/heilige drei konige/reyes/epiphanie/galette des rois"),
    (((2, 1), (3, 9)), "carnival/shrove tuesday/fasching/karneval/rosenmontag/fastnacht/carnaval/martes de carnaval/mardi gras"),
    (((2, 14), (2, 14)), "valentine's day/valentine/valentinstag/san valentin/saint-valentin"),
    (((3, 19), (4, 28)), "easter/holy week/good friday/palm sunday/ostern/karwoche/karfreitag/palmsonntag/ostermontag/pascua/semana santa/jueves santo/viernes santo/domingo de ramos/paques/semaine sainte/vendredi saint"),
    (((5, 8), (5, 14)), "mother's day/muttertag/fete des meres/dia de la madre"),
    (((5, 10), (6, 13)), "whitsun/pentecost/pfingsten/pentecostes/pentecote"),
    (((6, 23), (6, 24)), "midsummer/san juan/saint-jean/johannistag"),
    (((10, 31), (10, 31)), "halloween"),
    (((11, 1), (11, 2)), "all saints/all souls/allerheiligen/allerseelen/todos los santos/toussaint"),
    (((11, 29), (12, 24)), "advent/adviento/avent"),
)  # fmt: skip
"""Feasts that move are the days on which they may be."""

_ALSO_OTHER = "may march jan mar sun sat ete reyes"
ALSO_OTHER = frozenset(_ALSO_OTHER.split())
"""Verbs and names, too: they are times only beside a day of the month, or after one of `LEADING`."""
_LEADING = (
    "in of on at last next this every each early late since before after until by from im am vor nach seit bis en de d' l' del el los "
    "desde hasta antes despues cet cette chaque depuis avant apres mi fin a"
)
LEADING = frozenset(_LEADING.split())

BEFORE = frozenset(["before", "until", "vor", "bis", "antes", "avant"])
AFTER = frozenset(["after", "since", "nach", "seit", "despues", "desde", "tras", "apres", "depuis"])
START = frozenset(["start", "beginning", "early", "anfang", "beginn", "principios", "inicio", "comienzos", "debut"])
END = frozenset(["end", "late", "ende", "finales", "fin", "fines"])
NOT = frozenset(["not", "except", "nicht", "ausser", "no", "salvo", "menos", "pas", "sauf"])
