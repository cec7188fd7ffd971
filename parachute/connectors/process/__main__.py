"""Entry of `python -m parachute.connectors.process PLATFORM`."""

import os
import signal

# The first process of a namespace gets only those signals that it has asked for: from now on, as what follows takes a moment.
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))

from parachute.connectors.process.program import run  # noqa: E402

run()
