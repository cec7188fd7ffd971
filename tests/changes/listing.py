"""Print what is in the working directory; a program for a shell in a view."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.changes.views import listed

sys.stdout.write(repr(listed(Path.cwd())))
