"""The server's process, as older units start it."""

import sys

if __name__ == "__main__":
    from parachute.server.__main__ import main

    sys.exit(main())
