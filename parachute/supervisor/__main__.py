"""Entry of `python -m parachute.supervisor`."""

import sys

# It speaks on sockets of this machine only, and asyncio does without: a tenth of its start and of its memory.
sys.modules.setdefault("ssl", None)  # type: ignore[arg-type]

from parachute.supervisor.main import main  # noqa: E402

sys.exit(main())
