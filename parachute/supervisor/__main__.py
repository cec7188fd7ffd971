"""Entry of `python -m parachute.supervisor`."""

import sys

from parachute.supervisor.main import main

sys.exit(main())
