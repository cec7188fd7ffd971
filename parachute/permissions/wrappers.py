"""Programs that start another program named in their arguments, and how to find it.

An option that is not listed makes the line a refusal: guessing whether it takes a value would guess what is started.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from parachute.permissions.words import Unparsable, Word

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


@dataclass(frozen=True, slots=True)
class Wrapper:
    """The options of a program that starts another: letters and long names without a value, and those with one.

    `operands` is the number of arguments of its own before the program; `assignments` says that `X=1` may stand there.
    """

    flags: str = ""
    values: str = ""
    long_flags: tuple[str, ...] = ()
    long_values: tuple[str, ...] = ()
    operands: int = 0
    assignments: bool = False


# Sources: the manual pages of coreutils, util-linux, findutils, bash, procps and strace.
WRAPPERS: dict[str, Wrapper] = {
    "env": Wrapper(
        "i0v",
        "uC",
        (
            "ignore-environment",
            "null",
            "debug",
            "block-signal",
            "default-signal",
            "ignore-signal",
            "list-signal-handling",
        ),
        ("unset", "chdir"),
        assignments=True,
    ),
    "nohup": Wrapper(),
    "time": Wrapper(
        "pvaq", "fo", ("portability", "verbose", "append", "quiet"), ("format", "output"), assignments=True
    ),
    "timeout": Wrapper("vfp", "ks", ("foreground", "preserve-status", "verbose"), ("kill-after", "signal"), operands=1),
    "nice": Wrapper("0123456789", "n", (), ("adjustment",)),
    "ionice": Wrapper("t", "cn", ("ignore",), ("class", "classdata")),
    "chrt": Wrapper("abdfiormRv", "TPD", operands=1),
    "taskset": Wrapper("acp", "", ("all-tasks", "cpu-list", "pid"), operands=1),
    "stdbuf": Wrapper("", "ioe", (), ("input", "output", "error")),
    "setsid": Wrapper("cfw", "", ("ctty", "fork", "wait")),
    "command": Wrapper("pvV"),
    "builtin": Wrapper(),
    "exec": Wrapper("cl", "a"),
    "coproc": Wrapper(assignments=True),
    "busybox": Wrapper(),
    "toybox": Wrapper(),
    "caffeinate": Wrapper("dimsu", "tw"),
    "chroot": Wrapper("", "", ("skip-chdir",), ("groups", "userspec"), operands=1),
    "unshare": Wrapper(
        "cfimnprTuUC",
        "SGRw",
        ("fork", "user", "pid", "mount", "net", "uts", "ipc", "cgroup", "time", "map-root-user", "map-current-user"),
        ("root", "wd", "setuid", "setgid"),
    ),
    "watch": Wrapper(
        "bcdegprtwx",
        "nq",
        ("beep", "color", "differences", "errexit", "chgexit", "precise", "no-rerun", "no-title", "no-wrap", "exec"),
        ("interval", "equexit"),
    ),
    "strace": Wrapper("cCdfFhiknqrtTvVwxyzZ", "abeEIoOpPsSuU"),
    "ltrace": Wrapper("bcCfhiLrStTV", "aADeFlnopsuwx"),
    "xargs": Wrapper(
        "0rtpxo",
        "aEInLPsd",
        ("null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty", "show-limits", "replace", "eof"),
        ("arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars", "process-slot-var"),
    ),
    "flock": Wrapper(
        "sxenuoFv", "wE", ("shared", "exclusive", "nonblock", "close", "no-fork", "verbose"), ("timeout",), 1
    ),
}

# They start programs in ways that are not read here: another order of arguments, a command in a file, another machine's words.
OPAQUE: frozenset[str] = frozenset(
    {
        "parallel",
        "setarch",
        "linux32",
        "linux64",
        "nsenter",
        "systemd-run",
        "script",
        "expect",
        "firejail",
        "capsh",
        "setpriv",
    }
)


@dataclass(frozen=True, slots=True)
class Inner:
    """What a wrapper starts: the command, the options that came before it, and the assignments for it."""

    command: tuple[Word, ...]
    options: dict[str, Word | None]
    assignments: tuple[Word, ...]


def unwrap(name: str, arguments: Sequence[Word]) -> Inner:
    """Return what the wrapper starts; `Unparsable` when an option is not known or not static."""
    wrapper = WRAPPERS[name]
    options: dict[str, Word | None] = {}
    position = 0
    while position < len(arguments):
        word = arguments[position]
        if word.leading_unknown or word.shifts:
            raise Unparsable(f"What '{name}' starts is only known when it runs.", "Write the command out.")
        text = word.text
        if text == "--":
            position += 1
            break
        if len(text) < 2 or text[0] != "-":
            if text != "-":
                break
            position += 1
            continue
        if not word.static and not word.text.startswith("--"):
            raise Unparsable(f"The options of '{name}' are only known when it runs.", "Write the options out.")
        position = _option(name, wrapper, arguments, position, options)
    assignments: list[Word] = []
    while wrapper.assignments and position < len(arguments) and _ASSIGNMENT.match(arguments[position].text):
        assignments.append(arguments[position])
        position += 1
    if any(word.leading_unknown or word.shifts for word in arguments[: position + wrapper.operands + 1]):
        raise Unparsable(f"What '{name}' starts is only known when it runs.", "Write the command out.")
    return Inner(tuple(arguments[position + wrapper.operands :]), options, tuple(assignments))


def _option(
    name: str, wrapper: Wrapper, arguments: Sequence[Word], position: int, options: dict[str, Word | None]
) -> int:
    """Read the option at the position and return the position behind it and its value."""
    text = arguments[position].text
    following = arguments[position + 1] if position + 1 < len(arguments) else None
    if text.startswith("--"):
        option, equals, value = text[2:].partition("=")
        if option in wrapper.long_flags:
            options[option] = Word(value) if equals else None
            return position + 1
        if option in wrapper.long_values:
            options[option] = Word(value) if equals else following
            return position + (1 if equals else 2)
    else:
        for index, letter in enumerate(text[1:], start=1):
            if letter in wrapper.values:
                rest = text[index + 1 :]
                options[letter] = Word(rest) if rest else following
                return position + (1 if rest else 2)
            # xargs and strace: an optional value may only be glued to its letter.
            if name == "xargs" and letter in "iel":
                options[letter] = Word(text[index + 1 :])
                return position + 1
            if letter not in wrapper.flags:
                break
            options[letter] = None
        else:
            return position + 1
    raise Unparsable(
        f"The option {text!r} of '{name}' is not known, so what it starts cannot be told.",
        "Start the command directly.",
    )
