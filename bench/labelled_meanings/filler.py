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
_SPANISH = (
    (
        "He comprado {a} para {b}, {c}.",
        "{c}: para {b} falta {a}.",
        "Otra vez {b}, ahora con {a}; {c}.",
        "Le pregunté a Ruth por {a}, ya que {b} {d}.",
        "Para no olvidarlo, {c}: {a}, luego {b}.",
        "Alguien dejó {a} en {b}. Aquello {d}.",
        "{c} supe que {b} {d}, y me acordé: {a}.",
        "Larga charla sobre {a}. Más tarde {b} {d}.",
    ),
    (
        "un rollo de cinta", "dos velas", "la carpeta verde", "una fregona nueva", "unos sellos", "una escalera prestada",
        "leche de avena", "tres sobres", "un saco de grava", "unos tornillos equivocados", "canela", "papel para imprimir",
        "un paraguas", "guantes de goma", "un tarro de miel", "un calendario", "toallas limpias", "la radio vieja",
        "un mapa de la comarca", "unas bombillas", "cartón", "unas tijeras", "los formularios", "un cubo de arena",
        "pipas de girasol", "la pintura azul", "una rueda de repuesto",
    ),
    (
        "el cobertizo", "el balcón", "la impresora", "la cocina", "la oficina", "la sede del club", "el parque infantil",
        "la escalera", "el taller", "el cuarto de invitados", "la panadería", "el informe trimestral", "el invernadero",
        "el boletín", "el acuario", "la hoja de cálculo", "el garaje", "el ayuntamiento", "el puerto", "la estantería",
        "el mercadillo", "la parcela", "la orquesta", "la colada", "la farola",
    ),
    (
        "el lunes", "antes de comer", "como siempre", "bajo la lluvia", "sin prisa", "ya de noche", "por tercera vez", "con Clara",
        "después de las noticias", "por fin", "de mal humor", "de camino a casa", "a primera hora", "por error",
    ),
    (
        "estaba cerrado todo el rato", "tenía mejor cara que la semana pasada", "olía a jabón", "hizo reír a todos", "quedó sin gente",
        "llevó el día entero", "reunió a medio barrio", "parecía otra cosa", "costó menos de lo previsto", "me esperaba",
    ),
)  # fmt: skip
_FRENCH = (
    (
        "Acheté {a} pour {b}, {c}.",
        "{c} : pour {b}, il manque {a}.",
        "Encore {b}, cette fois {a} ; {c}.",
        "Demandé à Ruth, pour {a}, puisque {b} {d}.",
        "Pense-bête, {c} : {a}, ensuite {b}.",
        "Quelqu'un a laissé {a} devant {b}. Cela {d}.",
        "{c}, on m'a dit que {b} {d}, et j'ai revu {a}.",
        "Longue discussion sur {a}. Plus tard, {b} {d}.",
    ),
    (
        "un rouleau d'adhésif", "deux bougies", "la chemise verte", "une serpillière neuve", "des timbres", "l'échelle d'à côté",
        "du lait d'avoine", "trois enveloppes", "un sac de gravier", "les mauvaises vis", "de la cannelle", "du papier à imprimer",
        "un parapluie", "des gants en caoutchouc", "un pot de miel", "un calendrier", "des serviettes propres", "le vieux poste",
        "une carte de la région", "des ampoules", "du carton", "une paire de ciseaux", "les formulaires", "un seau de sable",
        "des graines de tournesol", "la peinture bleue", "une roue de secours",
    ),
    (
        "la remise", "le balcon", "l'imprimante", "la cuisine", "le bureau", "le local du club", "l'aire de jeux", "l'escalier",
        "l'atelier", "la chambre d'amis", "la boulangerie", "le rapport trimestriel", "la serre", "le bulletin", "l'aquarium",
        "le tableur", "le garage", "la mairie", "le port", "la bibliothèque", "le vide-grenier", "la parcelle", "l'orchestre",
        "la lessive", "le réverbère",
    ),
    (
        "lundi", "avant le repas", "comme toujours", "sous la pluie", "sans hâte", "tard le soir", "pour la troisième fois",
        "avec Claire", "après les informations", "enfin", "de mauvaise humeur", "sur le chemin du retour", "de bon matin",
        "par erreur",
    ),
    (
        "avait meilleure mine que la semaine passée", "sentait le savon", "a fait rire tout le monde", "est resté sans visiteurs",
        "a pris toute la journée", "attirait la foule", "avait changé", "coûtait moins que prévu", "m'attendait", "penchait un peu",
    ),
)  # fmt: skip


def texts(count: int) -> Iterator[str]:
    """Some texts, a quarter of each language, the same ones each time."""
    chance = random.Random(20)
    seen: set[str] = set()
    for shapes, a, b, c, d in itertools.cycle((_ENGLISH, _GERMAN, _SPANISH, _FRENCH)):
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
