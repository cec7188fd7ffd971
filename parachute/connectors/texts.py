"""Sentences of the computer itself in chats, in the languages of `messengers.language`."""

from typing import Literal, get_args

Language = Literal["en", "de"]

LANGUAGES: tuple[Language, ...] = get_args(Language)

_TEXTS: dict[str, dict[str, str]] = {
    "code": {
        "en": "This is a private computer. Your code is {code}: if its owner lets you in within ten minutes, I will tell you here.",
        "de": "Das ist ein privater Computer. Dein Code ist {code}: Wenn der Besitzer dich in den nächsten zehn Minuten zulässt, sage ich es dir hier.",
    },
    "approved": {
        "en": "You may write to me now. What you sent before was not kept, so please send it again.",
        "de": "Du kannst mir jetzt schreiben. Was du vorher geschickt hast, wurde nicht aufgehoben; bitte schick es noch einmal.",
    },
    "group_approved": {
        "en": "I am here now. Mention me, or answer one of my messages.",
        "de": "Ich bin jetzt da. Erwähne mich, oder antworte auf eine meiner Nachrichten.",
    },
    "somebody_new": {"en": "somebody new", "de": "jemand Neues"},
    "group_new": {"en": "a new group", "de": "eine neue Gruppe"},
    "group_number": {"en": "group {number}", "de": "Gruppe {number}"},
    "denied": {"en": "The owner did not let you in.", "de": "Der Besitzer hat dich nicht zugelassen."},
    "no_sandbox": {
        "en": "I cannot answer here at the moment: this computer has no safe place for it. Its owner has to look.",
        "de": "Ich kann hier gerade nicht antworten: Dieser Computer hat keinen sicheren Ort dafür. Der Besitzer muss nachsehen.",
    },
    "failed": {
        "en": "That did not work. The owner can see why; please try again later.",
        "de": "Das hat nicht geklappt. Der Besitzer kann sehen, warum; bitte versuch es später noch einmal.",
    },
    "limit": {
        "en": "The spending limit for today is reached. The owner can raise it; "
        "`parachute usage limits` lists the limits.",
        "de": "Heute darf ich nicht mehr antworten: Die Grenze der Ausgaben ist erreicht. Der Besitzer kann sie erhöhen; "
        "`parachute usage limits` nennt die Grenzen.",
    },
    "stopped": {"en": "Stopped.", "de": "Abgebrochen."},
    "nothing_runs": {"en": "Nothing is running.", "de": "Es gibt nichts abzubrechen."},
    "new": {"en": "A new conversation begins.", "de": "Ein neues Gespräch beginnt."},
    "empty": {"en": "Done, without anything to say.", "de": "Fertig, ohne etwas zu sagen."},
    "direct": {
        "en": "This conversation runs with the owner's rights by now and takes no messages from here. {sign}new begins another one.",
        "de": "Dieses Gespräch läuft inzwischen mit den Rechten des Besitzers und nimmt von hier nichts an. {sign}new beginnt ein neues.",
    },
    "blocked": {
        "en": "The owner's rules do not allow this conversation.",
        "de": "Die Regeln des Besitzers erlauben dieses Gespräch nicht.",
    },
    "file_left_out": {
        "en": "[The file {name} was not taken: {why}]",
        "de": "[Die Datei {name} wurde nicht angenommen: {why}]",
    },
    "voice_heard": {
        "en": "[What was said in the voice note {name}, as this computer transcribed it; the recording is kept as {path}]",
        "de": "[Was in der Sprachnachricht {name} gesagt wurde, von diesem Computer aufgeschrieben; die Aufnahme liegt in {path}]",
    },
    "voice_silent": {
        "en": "[In the voice note {name} no words were heard; the recording is kept as {path}]",
        "de": "[In der Sprachnachricht {name} waren keine Worte zu hören; die Aufnahme liegt in {path}]",
    },
    "voice_not_set_up": {
        "en": "[The voice note {name} has no text: nothing that transcribes is set up on this computer.]",
        "de": "[Die Sprachnachricht {name} hat keinen Text: Auf diesem Computer ist nichts eingerichtet, was ihn aufschreibt.]",
    },
    "voice_slow": {
        "en": "[The voice note {name} has no text: transcribing it took too long.]",
        "de": "[Die Sprachnachricht {name} hat keinen Text: Das Aufschreiben hat zu lange gedauert.]",
    },
    "voice_failed": {
        "en": "[The voice note {name} has no text: transcribing it failed.]",
        "de": "[Die Sprachnachricht {name} hat keinen Text: Das Aufschreiben ist misslungen.]",
    },
    "owner_only": {"en": "Only the owner may do that.", "de": "Das darf nur der Besitzer."},
    "own_chat": {
        "en": "This is your own chat now: what bots' conversations ask appears here, to be answered here. It gives no other rights.",
        "de": "Das ist jetzt dein eigener Chat: Was Gespräche von Bots fragen, erscheint hier und lässt sich hier beantworten. Andere Rechte gibt er nicht.",
    },
    "wrong_code": {"en": "This code is wrong or has expired.", "de": "Dieser Code gilt nicht, oder nicht mehr."},
    "sessions": {"en": "Conversations of this chat:", "de": "Gespräche dieses Chats:"},
    "no_sessions": {
        "en": "There is no conversation in this chat yet.",
        "de": "In diesem Chat gibt es noch kein Gespräch.",
    },
    "permissions": {
        "en": "Tools of modules and servers: {mcps}. Folders: {folders}. Files and commands: {capabilities}. Network: {network}.",
        "de": "Werkzeuge von Modulen und Servern: {mcps}. Ordner: {folders}. Dateien und Befehle: {capabilities}. Netz: {network}.",
    },
    "all": {"en": "all that this computer allows", "de": "alles, was dieser Computer erlaubt"},
    "none": {"en": "none", "de": "keine"},
    "help": {
        "en": "Write to me, and I answer.\n{sign}new: begin a new conversation\n{sign}stop: stop the answer\n{sign}sessions: list the conversations of this chat (owner)\n"
        "{sign}permissions: what I may use here\n{sign}help: this list",
        "de": "Schreib mir, und ich antworte.\n{sign}new: ein neues Gespräch beginnen\n{sign}stop: die Antwort abbrechen\n{sign}sessions: Gespräche dieses Chats (Besitzer)\n"
        "{sign}permissions: was ich hier benutzen darf\n{sign}help: diese Liste",
    },
    "button_allow": {"en": "Allow", "de": "Erlauben"},
    "button_deny": {"en": "Deny", "de": "Verweigern"},
    "button_approve": {"en": "Approve", "de": "Annehmen"},
    "button_reject": {"en": "Reject", "de": "Ablehnen"},
    "answered": {"en": "Answered: {answer}", "de": "Beantwortet: {answer}"},
    "not_waiting": {
        "en": "This is no longer waiting for an answer.",
        "de": "Das wartet nicht mehr auf eine Antwort.",
    },
    "push_question": {"en": "An agent has a question", "de": "Ein Agent hat eine Frage"},
    "push_permission": {"en": "An agent asks for permission", "de": "Ein Agent bittet um Erlaubnis"},
    "push_suggestion": {"en": "A suggestion waits for you", "de": "Ein Vorschlag wartet auf dich"},
    "push_host": {"en": "An agent wants to reach a host", "de": "Ein Agent möchte einen Server erreichen"},
    "push_repository": {"en": "An agent wants to use a repository", "de": "Ein Agent möchte ein Repository benutzen"},
    "push_spending": {"en": "A spending limit is nearly reached", "de": "Eine Ausgabengrenze ist fast erreicht"},
    "push_reminder": {"en": "A reminder", "de": "Eine Erinnerung"},
    "push_task": {"en": "A task is due", "de": "Eine Aufgabe ist fällig"},
    "push_update": {"en": "An update did not succeed", "de": "Ein Update ist nicht gelungen"},
    "push_backup": {"en": "Something is wrong with your backup", "de": "Mit deinem Backup stimmt etwas nicht"},
    "push_problem": {"en": "This computer has a problem", "de": "Dieser Computer hat ein Problem"},
    "push_other": {"en": "Something waits for your approval", "de": "Etwas wartet auf deine Zustimmung"},
    "push_waits": {"en": "Something waits for you", "de": "Etwas wartet auf dich"},
    "push_run_ended": {"en": "An agent has finished", "de": "Ein Agent ist fertig"},
    "push_run_failed": {"en": "An agent could not finish", "de": "Ein Agent konnte nicht fertig werden"},
    "push_test": {"en": "Notices arrive here", "de": "Benachrichtigungen kommen hier an"},
    "push_test_body": {"en": "This was a test.", "de": "Das war ein Test."},
    "push_failed": {
        "en": "Your answer did not arrive. Open the item to see why.",
        "de": "Deine Antwort ist nicht angekommen. Öffne den Eintrag, um zu sehen, warum.",
    },
    "look_in_console": {
        "en": "Answer it in the console or the app.",
        "de": "Beantworte es in der Konsole oder der App.",
    },
}


def say(language: Language, sentence: str, /, **fields: str) -> str:
    """A sentence in a language."""
    return _TEXTS[sentence][language].format(**fields)
