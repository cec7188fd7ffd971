"""`python -m parachute.automation.transcription.process`: started with a listening socket as descriptor 3, gone when idle."""

import os
import resource
import signal
import sys

from parachute.automation.transcription.process.serving import Serving
from parachute.automation.transcription.process.settings import VoiceSettings
from parachute.base.errors import ParachuteError
from parachute.supervisor.activation import adopt_listener

_NICE = 10


def main() -> int:
    """Exit code 0 after an idle time or a signal, 2 when it was started wrongly."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    try:
        settings = VoiceSettings.from_environment(os.environ)
        listener = adopt_listener(os.environ)
    except ParachuteError as error:
        print(error, file=sys.stderr)  # noqa: T201 - this is where the supervisor keeps what a process says
        return 2
    os.nice(_NICE)
    if sys.platform == "linux":
        # What it may write to. A recording that makes the decoder ask for more ends here, and not the machine.
        resource.setrlimit(resource.RLIMIT_DATA, (settings.memory_bytes, settings.memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    Serving(settings).serve(listener)
    return 0


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    # Without the interpreter's tidying, which would take the model down piece by piece.
    os._exit(code)
