"""Commands that no session runs, and files that no command opens."""

import os
import re
from collections.abc import Generator, Iterator
from itertools import chain, pairwise, takewhile

from parachute.security.permissions.models import Access, Decision, Effect, deny
from parachute.security.permissions.paths import (
    CONTROL,
    PATH_LIMIT,
    Places,
    could_be_secret,
    is_secret,
    is_wild,
    literal_letters,
    real_path,
)
from parachute.security.permissions.shell.commands import SHELLS, WRAPPERS, CommandLine, SimpleCommand
from parachute.security.permissions.shell.parse import UNKNOWN, Word

# Folders that a line may be in.
FOLDER_LIMIT = 32

# Of a command with its words: why no agent runs it.
_NEVER = {
    r"sudo(edit)?|doas|su|pkexec|runuser|run0|gksu(do)?|kdesudo": "gives another user's rights",
    r"(mkfs|newfs).*|mke2fs|mkswap|mk(dos|nt)fs|wipefs|blkdiscard|badblocks|[cs]?fdisk|[cs]?gdisk|parted|hdparm": "changes disks",
    r"shutdown|reboot|halt|poweroff|kexec|(tel)?init( .*)? [06]|(system|login)ctl( .*)? (poweroff|reboot|halt|kexec"
    r"|soft-reboot|suspend|hibernate|hybrid-sleep|rescue|emergency)": "would stop this machine",
}
# Top-level folders of Linux and macOS; /tmp belongs to everyone and is not among them.
_SYSTEM = re.compile(
    r"(/(bin|boot|dev|etc|home|lib(32|64)?|media|mnt|nix|opt|proc|root|run|sbin|srv|sys|usr|var"
    r"|users|system|library|applications|volumes|private|cores|network))?/?",
    re.IGNORECASE,
)
_REMOVE, _CHANGE = re.compile(r"[gs]?rm"), re.compile(r"g?ch(mod|own|grp)")
_REMOVING = re.compile(r"-delete|(.*/)?(rm|shred|unlink)", re.IGNORECASE)
_NARROWED = re.compile(r"-(empty|[mc](time|min)|newer|size)")
# A name does not tell what a device does.
_WRITTEN = re.compile(r"/dev/(null|zero|full|tty|std(in|out|err)|fd/\d+|pts/\d+|(shm|tcp|udp)/.+)", re.DOTALL)
_COPIED = re.compile(r"/dev/(stdin|stdout|stderr|null)")
# They show which devices there are and do not open them.
_LOOKING = re.compile(r"ls|lsblk|stat|file|df|du|test|\[|findmnt|blkid|readlink|realpath|udevadm|smartctl")
_FEEDS = re.compile(r"[|`]|[$<]\(")
# Their first operand is an expression, unless an option gives it or takes that word.
_SEARCHING = frozenset({"grep", "egrep", "fgrep", "rg", "sed", "awk", "gawk", "mawk", "jq", "yq"})
_EXPRESSION = re.compile(r"-[ef].*|--(regexp|file|expression|from-file).*")
_NO_VALUE = re.compile(r"|[^-].*|--|--.*=.*|-[abcEFGHhIiLlnNoPpqRrSsTUuVvwxZzjCMy.0]+", re.DOTALL)
# Programs whose arguments may be code that opens files named in its strings.
_CODE = re.compile(r"(python|pypy|perl|ruby|node|deno|bun|php|lua|g?awk|mawk|osascript)[\d.]*|sed")
_NAMED = re.compile(r"""["'`]([^"'`]+)["'`]|(?<![A-Za-z])[rRwW]\s+([^\s;}]+)""")
_SEPARATORS = re.compile(r"[/=@:,{}()|]")


def _unknown(reason: str) -> Decision:
    return Decision(Effect.ASK, reason, "unknown-command")


class Judge:
    """The judge of the commands of one line that runs in the folder; its `cd` may have led them to others."""

    def __init__(self, line: CommandLine, folder: str, places: Places) -> None:
        self._line, self._places = line, places
        self._folders, self._lost = [folder], False
        for word in line.folders:
            self._lost |= word.pattern is not None or ".." in word.text or word.text in {"-", "~"}
            if word.pattern is None and not word.text.startswith("-"):
                reached = [places.absolute(one, word.text) for one in self._folders]
                self._folders = list(dict.fromkeys([*self._folders, *reached]))[:FOLDER_LIMIT]

    def decisions(self) -> Iterator[Decision]:
        """Yield what speaks against the line: `deny` for what nobody may do, `ask` for what is only known when it runs."""
        if self._line.is_fork_bomb:
            yield deny("The command line defines a function that multiplies itself without end.", "dangerous-command")
        yield from map(_unknown, self._line.unknown)
        if len(self._folders) == FOLDER_LIMIT:
            yield _unknown("The command line changes its folder too often: run it in parts.")
        yield from chain.from_iterable(map(self._program, self._line.commands))
        held = (word for one in self._line.commands if not one.program for _, word in one.assignments)
        if any(chain.from_iterable(map(self._word, held))):
            yield _unknown("The command line sets a variable to the name of a file that may hold secrets.")
        for word in dict.fromkeys(chain.from_iterable(map(self._opened, self._line.commands))):
            if len(word.text) <= PATH_LIMIT:
                yield from self._word(word)

    def _judged(self, reason: str, rule: str, folder: str, sure: bool = True) -> Decision:
        # Behind several `cd` the line is most likely where the last one leads.
        return deny(reason, rule) if sure and not self._lost and folder == self._folders[-1] else _unknown(reason)

    def _program(self, command: SimpleCommand) -> Iterator[Decision]:
        names = {command.name}
        for folder in self._folders if "/" in command.program else ():
            place = self._places.host(self._places.absolute(folder, command.program))
            names |= {real_path(place[0]).rpartition("/")[2].lower()} if place else set()
        arguments, texts = command.arguments, [word.text for word in command.arguments]
        for name in names:
            for commands, why in _NEVER.items():
                if re.fullmatch(f"({commands})( .*)?", " ".join([name, *texts]), re.DOTALL):
                    yield deny(f"{name!r} {why} and is never run by an agent.", "dangerous-command")
            if name in SHELLS | WRAPPERS and command.name not in SHELLS | WRAPPERS:
                yield _unknown(
                    f"{command.program!r} is another name for a program that starts others: use its own name."
                )
            if _REMOVE.fullmatch(name) or _CHANGE.fullmatch(name):
                yield from self._recursive(name, arguments)
            elif name == "find" and any(_REMOVING.fullmatch(text) for text in texts):
                yield from self._find(arguments)
            elif name in {"dd", "gdd"}:
                if any(word.unknown for word in arguments):
                    yield _unknown("What 'dd' reads or writes is only known when it runs: write it out.")
                copied = (text.partition("=")[2] for text in texts if text.startswith(("if=", "of=")))
                yield from chain.from_iterable(self._device(Word(text), _COPIED) for text in copied)
        if command.redirect and command.redirect[0] is Access.WRITE:
            yield from self._device(command.redirect[1], _WRITTEN)

    def _device(self, word: Word, harmless: re.Pattern[str]) -> Iterator[Decision]:
        for folder in self._folders:
            path = os.path.normpath(self._places.absolute(folder, word.text))
            if f"{path}/".startswith("/dev/") and not harmless.fullmatch(path):
                reason = f"{path!r} may be a device of the system."
                yield _unknown(reason) if word.unknown else self._judged(reason, "dangerous-command", folder)

    def _recursive(self, name: str, arguments: tuple[Word, ...]) -> Iterator[Decision]:
        options = " ".join(word.text for word in arguments if word.text.startswith("-"))
        operands = [word for word in arguments if not word.text.startswith("-")]
        removes = name.endswith("rm")
        sure = re.search(rf"(^| )(--r|-[^- ]*[{'rR' if removes else 'R'}])", options) is not None
        if "--no-p" in options:
            yield deny(f"'{name} --no-preserve-root' is never run by an agent.", "dangerous-command")
        for word in operands[0 if removes else 1 :]:
            # A word that is not known may be '-rf', so the other words are judged as if it were.
            if sure or word.splits or (not word.unknown and any(one.splits or one.leads for one in operands)):
                yield from self._whole(word, name, removes)

    def _find(self, arguments: tuple[Word, ...]) -> Iterator[Decision]:
        texts = [word.text for word in arguments]
        narrowed = not {"-o", "-or", "!", "-not"} & set(texts) and any(
            _NARROWED.match(text)
            or (re.fullmatch("-i?(name|path|wholename|regex)", text) and literal_letters(value.rpartition("/")[2]))
            for text, value in pairwise([*texts, ""])
        )
        starts = takewhile(lambda word: not re.match(r"-[^HLPOD]|[(!]", word.text), arguments)
        for word in [one for one in starts if not one.text.startswith("-")] or [Word(".")]:
            yield from self._whole(word, "find", not narrowed)

    def _whole(self, word: Word, name: str, protected: bool) -> Iterator[Decision]:
        """Judge a word that a command works on with all its content."""
        parts, patterns = word.text.split("/"), (word.pattern or "").split("/")
        # `x/*` is all of x, `x/a*` a part of it.
        first = next((place for place, part in enumerate(patterns) if is_wild(part)), len(parts))
        path = "/".join(parts[:first]) or ("/" if word.text.startswith("/") else ".")
        lost = self._lost and path[0] != "/" and (".." in parts or not path.strip("./"))
        if word.unknown or lost or ".." in parts[first:] or re.match("~[^/]", path):
            yield _unknown(
                f"What {name!r} changes with all its content is only known when it runs: write the path out."
            )
            return
        for folder in self._folders:
            root = self._places.absolute(folder, path)
            system = any(_SYSTEM.fullmatch(real) for real in self._places.real_paths(root))
            if system or (protected and self._places.is_protected(root)):
                reason = f"{name!r} would change {root!r} with all its content, which no agent may."
                yield self._judged(reason, "dangerous-command", folder, not any(map(literal_letters, patterns[first:])))

    def _opened(self, command: SimpleCommand) -> Iterator[Word]:
        """Yield the words of a command that may name files."""
        if "/" in command.program:
            yield Word(command.program)
        yield from (word for _, word in command.assignments if command.program)
        if command.redirect:
            yield command.redirect[1]
        if _CODE.fullmatch(command.name):
            found = (_NAMED.findall(word.text) for word in command.arguments)
            yield from (Word(text) for names in found for pair in names for text in pair)
        # Their words are printed, not opened, unless another program gets them.
        if command.name in {"echo", "printf"} and not _FEEDS.search(self._line.source):
            return
        skipped = command.name not in _SEARCHING or any(_EXPRESSION.fullmatch(word.text) for word in command.arguments)
        previous = ""
        for word in command.arguments:
            option = len(word.text) > 1 and word.text.startswith("-")
            if not skipped and not option and _NO_VALUE.fullmatch(previous):
                skipped = True
            elif not (_LOOKING.fullmatch(command.name) and word.text.startswith("/dev/")):
                yield word
            previous = word.text if option else ""

    def _word(self, word: Word) -> Iterator[Decision]:
        text = word.text
        if word.pattern is not None and (yield from self._matches(word, word.pattern)):
            return
        glued = text[2:] if re.match("-[^-]", text) else ""
        letters = self._places.letters(text)
        for part in {*letters.split("/"), *glued.split("/"), *_SEPARATORS.split(letters)}:
            aims = re.search(r"[*?\[]", part) and not re.search(r"\s", part) and could_be_secret(part)
            if is_secret(part) or aims:
                yield deny(f"{part!r} may hold secrets and is never opened for an agent.", "deny-list")
        for path in {text, text.partition("=")[2], glued if len(text) > 4 else ""}:
            for folder in self._folders if path and path[0] != "-" and not CONTROL.search(path) else ():
                if reason := self._places.refusal(path, folder):
                    yield self._judged(reason, "deny-list", folder)

    def _matches(self, word: Word, pattern: str) -> Generator[Decision, None, bool]:
        """Judge what a pattern stands for; return whether that is all, so that its letters mean nothing more."""
        plain, known, found = pattern.replace(UNKNOWN, ""), not word.unknown and not self._lost, False
        hidden = "dotglob" in self._line.source or "GLOBIGNORE" in self._line.source
        for folder in self._folders if is_wild(plain) else ():
            paths = self._places.matching(plain, folder, hidden)
            known, found = known and paths is not None, found or bool(paths)
            # A folder of thousands of files is judged once, and only its links each.
            suspects = {path.rpartition("/")[0] or "/" for path in paths or ()}
            suspects |= {one for one in paths or () if is_secret(one.rpartition("/")[2]) or self._places.is_link(one)}
            for path in suspects:
                if reason := self._places.refusal(path, folder):
                    yield self._judged(reason, "deny-list", folder)
        for part in re.split("[/=@:,]", pattern) if not (known and found) else ():
            if could_be_secret(part.replace(UNKNOWN, "*"), 1 if word.unknown else 3):
                reason = f"{word.text!r} may stand for a file with secrets, which is never opened for an agent."
                yield _unknown(reason) if word.unknown else deny(reason, "deny-list")
        return known and found
