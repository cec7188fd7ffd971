"""A hook for session.end: adds what is worth remembering of a conversation to `{vault}/parachute/memory.md`.

To change it, copy this file to ~/.parachute/hooks/on-session-end.py, take the entry out of ~/.parachute/hooks.yaml, and run
`parachute hooks approve`. It asks the model once, of the newest 20,000 characters, and of the same messages only once.
"""

import sys

from parachute.events.hooks.conversation_notes import run

QUESTION = """
You keep the notes of a personal computer. A conversation between its owner and an assistant has ended. Write down what will
still matter to the owner in weeks: facts about people and projects, decisions with their reasons, and what is still open.
"""

LEAST_MESSAGES = 4


def main() -> int:
    """Read the event from standard input; the exit code is 1 if it could not be done."""
    return run("summarise", QUESTION, LEAST_MESSAGES)


if __name__ == "__main__":
    sys.exit(main())
