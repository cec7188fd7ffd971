"""Conversations that show what a chat can: every form of text, and cards at the end of a turn."""

from tests.browser.console.furnished_parts import FETCH, Household
from tests.support.messages_api import text, tool_use

FORMS = """A day at sea has **three parts**.[^1] You can reach Helgoland in one:

- [x] Read the forecast
- [ ] Fill the tank with 40 l of diesel

| Leg | Miles | Hours | Tide |
|---|--:|--:|---|
| Wedel to Brunsbüttel | 28 | 5 | with the ebb, so leave early |
| Brunsbüttel to Cuxhaven | 16 | 3 | slack |
| Cuxhaven to Helgoland | 35 | 7 | across |

```python
def hours(miles: float, knots: float = 5.0) -> float:
    return miles / knots  # without the tide, which can add or take two knots on the way
```

The time is $t = \\frac{s}{v + c}$, where $c$ is the current:

$$\\int_0^T v(t)\\,dt = 79$$

```mermaid
flowchart LR
  A[Wedel] --> B[Cuxhaven] --> C[Helgoland]
```

> Red sky at night, sailor's delight.

[^1]: From the *Pilot book*, page 12.
"""
CHANGE = (
    "printf 'sails\\nropes\\n' > packing.md; printf '# Log\\n' > log.md; printf 'x\\n' > .envrc; " + FETCH["command"]
)
SHOWN = {
    "forms": "Plan a day at sea.",
    "cards": "Pack for the trip.",
    "versions": "Which bird stands in the reeds?",
    "asked": "Paint the hull.",
}
"""The first message of each."""


def furnish_talks(house: Household) -> None:
    """Hold these conversations; the boat's workspace is there."""
    while house.model.remaining:
        house.say("Thank you.")  # for what the model would have said to a question that still waits
    house.say(SHOWN["forms"], text(FORMS))
    command = tool_use("Bash", {"command": CHANGE, "description": "Write the lists"})
    house.say(SHOWN["cards"], command, text("The lists are written."), workspaceId="boat")
    first = house.say(SHOWN["versions"], text("A heron. It stands still, and waits for fish."))
    asked = next(each["id"] for each in house.ask("GET", f"/api/chat/{first}")["messages"] if each["role"] == "user")
    house.say(SHOWN["versions"], text("A stork, if its legs are red."), continuedFrom=first, continuedBefore=asked)
