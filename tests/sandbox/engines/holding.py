"""A bubblewrap that is slow: the start of a sandbox lasts until it is ended."""

import asyncio
import contextlib
import os
import shutil
import signal
from pathlib import Path


class Holding:
    """`program` is its text, for a folder that is looked into first; it is slow from `begin` on, once."""

    def __init__(self, folder: Path) -> None:
        self._begun, self._reached = folder / "holds", folder / "reached"
        os.mkfifo(self._reached)
        held = f"rm {self._begun} && echo $$ > {self._reached} && exec sleep infinity"
        begins = f'case "$*" in *runner.py*) [ ! -e {self._begun} ] || {{ {held}; }} ;; esac'
        self.program = f'#!/bin/sh\n{begins}\nexec {shutil.which("bwrap")} "$@"\n'

    def begin(self) -> None:
        """Hold the next sandbox that starts."""
        self._begun.touch()

    async def reached(self) -> None:
        """Wait until it is held."""
        self._process = int(await asyncio.to_thread(self._reached.read_text))

    def end(self) -> None:
        """End the start that is held, if nobody else has."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)
