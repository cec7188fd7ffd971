"""The words in which permissions are asked for, decided and given."""

from dataclasses import dataclass
from enum import StrEnum

from parachute.errors import InvalidInput

# A grant is shown to a person in one line and stored with the session.
GRANT_LIMIT = 4096


class Effect(StrEnum):
    """What happens with a request."""

    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask"


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to one request: the effect, a sentence for the person and the agent, and the rule that decided."""

    effect: Effect
    reason: str
    rule: str

    @property
    def allowed(self) -> bool:
        """Whether the request may go ahead without a question."""
        return self.effect is Effect.ALLOW


class Access(StrEnum):
    """What a grant opens: `write` includes `read`; `run` is for commands."""

    READ = "read"
    WRITE = "write"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Grant:
    """One thing that a person allowed for a session.

    For `read` and `write` the pattern is a file (`a/b.md`), the files of a folder (`a/*`), everything below it (`a/**/*`)
    or everything (`**/*`), relative to the vault; with a leading `./` it is relative to the working directory.
    For `run` it is the beginning of a command (`git status`) or a whole command line.
    """

    access: Access
    pattern: str

    def __post_init__(self) -> None:
        if not isinstance(self.access, Access):
            try:
                object.__setattr__(self, "access", Access(self.access))
            except ValueError:
                raise InvalidInput(f"The grant's access {self.access!r} must be read, write or run.") from None
        if not isinstance(self.pattern, str) or not self.pattern.strip() or len(self.pattern) > GRANT_LIMIT:
            raise InvalidInput(f"The grant's pattern must be a text of 1 to {GRANT_LIMIT} characters.")
        if self.access is not Access.RUN:
            self._check_path_pattern()

    def _check_path_pattern(self) -> None:
        folder = self.pattern.removeprefix("./")
        for ending in ("**/*", "*"):
            if folder == ending or folder.endswith("/" + ending):
                folder = folder.removesuffix(ending).removesuffix("/")
                break
        parts = folder.split("/") if folder else []
        if any(part in {"", ".", "..", "*", "**"} for part in parts) or any(ord(letter) < 32 for letter in folder):
            raise InvalidInput(
                f"The grant's pattern {self.pattern!r} must be a relative path, or end in '*' or '**/*'.",
                "Write for example 'notes/today.md', 'notes/*', 'notes/**/*' or '**/*'.",
            )


@dataclass(frozen=True, slots=True)
class Action:
    """One tool as data: what it does, on which kind of resource, and which tool must be allowed beside it.

    `resource` is `path`, `command` or `none`; only `none` needs no grant.
    """

    name: str
    description: str
    resource: str
    also_requires: str | None = None
    access: Access | None = None
