"""A hook for context.limit.approaching: saves to `{vault}/parachute/memory.md` what would be lost when a conversation is cut.

To change it, copy this file to ~/.parachute/hooks/on-context-limit.py, take the entry out of ~/.parachute/hooks.yaml, and run
`parachute hooks approve`. It asks the model once, of the newest 20,000 characters, and of the same messages only once.
"""

import sys

from parachute.events.hooks.conversation_notes import run

QUESTION = """
You keep the notes of a personal computer. A conversation between its owner and an assistant has become so long that most of
it is about to be replaced by a short summary. Write down what would be lost: exact names, numbers, paths and decisions, what
was tried and did not work, and what was to be done next.
"""


def main() -> int:
    """Read the event from standard input; the exit code is 1 if it could not be done."""
    return run("flush_memory", QUESTION)


if __name__ == "__main__":
    sys.exit(main())
