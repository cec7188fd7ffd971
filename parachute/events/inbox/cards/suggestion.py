"""A change that a module, an agent or a conversation proposes."""

from parachute.events.inbox.card import Card, kind, name, words
from parachute.events.inbox.models import Item

_SOURCES = {"conversation": "A conversation", "outside": "Somebody who talks to your bot"}
_DOES = {
    "create": ("adding {name} to {module}", "{name} was added to {module}."),
    "update": ("changing {name} in {module}", "{name} was changed in {module}."),
    "delete": ("deleting {name} from {module}", "{name} was deleted from {module}."),
    "link": ("linking {name} in {module}", "{name} was linked in {module}."),
}


@kind()
def card(item: Item) -> Card:
    details = item.details
    called = name(details.get("title") or details.get("target_id") or "")
    if details["action"] == "batch":
        count = len(details.get("members") or ())
        sentence = f"{count} suggestions that belong together: {called}."
        return words(item, sentence, approve=f"{count} suggestions were applied.", reject="Nothing was changed.")
    parts = {"name": called, "module": name(details["target_module"])}
    does, done = (each.format(**parts) for each in _DOES[details["action"]])
    who = _SOURCES.get(item.source.partition("/")[0], name(item.source))
    return words(item, f"{who} suggests {does}.", approve=done, reject=f"{called} stays as it is.")
