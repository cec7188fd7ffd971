"""Run a command, and say in a sentence what went wrong."""

import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING

from parachute import __version__

if TYPE_CHECKING:
    import typer

_INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit: 0 well, 1 an error, 2 a wrong usage, 3 nothing runs (status), 130 Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal that knows no UTF-8 shows a question mark
    sys.exit(_flushed(_run()))


def _run() -> int:
    # Everything costly is imported in here, so that Ctrl-C during the imports is as clean as later.
    with contextlib.suppress(KeyboardInterrupt):
        code = _invoke()
        if code != _INTERRUPTED:
            return code
    # It ends already: one more Ctrl-C of somebody in a hurry does not make it another end, not even while Python tears itself
    # down. This call raises one that came just now, and has to be made again then.
    for _ in range(2):
        with contextlib.suppress(KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _INTERRUPTED


def _invoke() -> int:
    from parachute.base.errors import ParachuteError
    from parachute.cli.output import print_error

    try:
        application()(prog_name="parachute")
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except ParachuteError as error:
        print_error(error.message, error.hint)
    except Exception as error:
        from parachute.base.disk_errors import machine_error

        if known := machine_error(error):
            print_error(known.message, known.hint)
            return 1
        print_error(f"This was not expected: {type(error).__name__}: {error}.", _kept(error))
    return 1


def application() -> "typer.Typer":
    """The whole command; the file of a group is imported when it is used."""
    import typer

    from parachute.cli.help import EXAMPLES, Root

    app = typer.Typer(
        cls=Root,
        epilog=EXAMPLES,
        add_completion="_PARACHUTE_COMPLETE" in os.environ,  # a shell asks, with the script of `parachute completion`
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="A personal computer for your knowledge and your agents.",
    )

    def show_version(wanted: bool) -> None:
        if wanted:
            print(f"parachute {__version__}")
            raise typer.Exit

    @app.callback()
    def options(
        version: bool = typer.Option(
            False, "--version", callback=show_version, is_eager=True, help="Show the version and exit."
        ),
    ) -> None:
        pass

    return app


def _kept(error: Exception) -> str | None:
    """Write the traceback to a file, and say where; a person at a terminal should not have to read it."""
    import traceback

    from parachute.base.files import atomic_write
    from parachute.config.settings.home import Home

    try:
        path = Home.find().logs / "cli.log"
        atomic_write(path, "".join(traceback.format_exception(error)))
    except OSError:
        return None
    return f"The details are in {path}."


def _flushed(code: int) -> int:
    """Flush what is still in the buffers; a reader that has gone, such as `head`, is no error to shout about."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        # The interpreter flushes again on its way out and would print a complaint.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code
