"""Sentences of the bot itself in rooms, in the languages of `messengers.language`."""

_TEXTS = {
    "encrypted": {
        "en": "This room is encrypted, and I cannot read what is written here. Please write to me in a room without encryption.",
        "de": "Dieser Raum ist verschlüsselt, und ich kann hier nichts lesen. Bitte schreib mir in einem Raum ohne Verschlüsselung.",
    },
    "choose": {
        "en": "React with the number, or answer this message with it.",
        "de": "Reagiere mit der Zahl, oder antworte mit ihr auf diese Nachricht.",
    },
}


def say(language: str, sentence: str) -> str:
    """A sentence in a language, in English if there is none in that."""
    found = _TEXTS[sentence]
    return found.get(language, found["en"])
