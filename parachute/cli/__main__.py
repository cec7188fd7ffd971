"""Entry of `python -m parachute.cli`."""

from parachute.cli.main import main

main()
