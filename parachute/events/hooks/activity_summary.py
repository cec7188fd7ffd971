"""The name under which the activity summary is known in documentation: `python -m parachute.hooks.activity_summary`."""

import sys

from parachute.events.hooks.defaults.activity_summary import main

if __name__ == "__main__":
    sys.exit(main())
