"""The start of the program."""

import os
import sys

from .channel import Channel
from .conversation import Conversation, end
from .options import Options
from .tools import Unplayed


def main() -> None:
    """Serve one session until standard input ends."""
    try:
        options = Options(sys.argv[1:])
        conversation = Conversation(options, Channel(options.session))
        if not conversation.resume():
            sys.exit(f"No conversation found with session ID: {options.session}")
        conversation.serve()
    except (Unplayed, ValueError) as missing:
        end(missing)
    # What a turn does in its thread ends with its session.
    os._exit(0)
