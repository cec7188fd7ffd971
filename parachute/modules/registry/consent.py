"""The question that a user answers before a module may start: what it may do, and on an update what changes in that."""

import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, ValidationError, convert, json

from parachute.base.answers import Answer
from parachute.events.scheduler.times import TimeOfDay
from parachute.modules.agent_definitions.brought import BroughtAgent
from parachute.modules.manifest.consents import Consent, ConsentDifference, ScheduledConsent, consent, difference
from parachute.modules.manifest.models import Manifest
from parachute.modules.registry.models import InstalledModule, Trust
from parachute.modules.registry.requirements import Lock, Package
from parachute.modules.trees.changes import FileChange


class Review(Answer, frozen=True):
    """The question about a staged module, for an app; `files` are those that an update changes, without the `more_files`."""

    name: str
    version: str
    previous_version: str | None
    question: str
    source: str
    path: str | None
    dev: bool
    trust_level: Trust
    hash: str
    enforced: bool
    permissions: Consent
    changes: ConsentDifference | None
    packages: tuple[Package, ...]
    text: str
    files: tuple[FileChange, ...]
    more_files: int
    unchanged: bool


class Question(Struct, frozen=True):
    """The question about a staged module, for a terminal and for apps."""

    asked: Consent
    module: InstalledModule
    previous: InstalledModule | None
    lock: Lock

    @property
    def sentence(self) -> str:
        """The question itself."""
        if self.previous is None:
            return f"Install the module {self.module.name}?"
        return f"Let {self.module.name} run as it is now?"

    def permissions(self) -> dict[str, Any]:
        """The consent to store as approved."""
        stored: dict[str, Any] = json.decode(json.encode(self.asked))
        return stored

    def difference(self) -> ConsentDifference | None:
        """The difference to the approved consent; None if there is none to compare with."""
        old = approved_consent(self.previous)
        return None if old is None else difference(old, self.asked)

    def review(self, files: Sequence[FileChange] = (), most: int | None = None, *, unchanged: bool = False) -> "Review":
        """Everything that a person sees before an approval, with at most so many of the files that change."""
        module = self.module
        return Review(
            name=module.name,
            version=module.version,
            previous_version=self.previous.version if self.previous else None,
            question=self.sentence,
            source=module.source,
            path=module.path,
            dev=bool(module.dev),
            trust_level=module.trust,
            hash=module.hash,
            enforced=is_enforced(),
            permissions=self.asked,
            changes=self.difference(),
            packages=self.lock.packages,
            text=self.as_text(),
            files=tuple(files[:most]),
            more_files=max(0, len(files) - most) if most else 0,
            unchanged=unchanged,
        )

    def as_text(self) -> str:
        """Lines for a terminal: everything about a new module, and only what changes about one that is there."""
        changes = self.difference()
        if changes is None:
            lines = self.asked.as_text()
        else:
            assert self.previous is not None
            before, now = self.previous.version, self.module.version
            lines = [f"{self.module.name} {before} -> {now}" if before != now else f"{self.module.name} {now}"]
            lines += ["Its permissions change:", *changes.as_text()] if changes else ["Its permissions stay the same."]
        if self.lock.packages and (changes is None or changes):
            packages = ", ".join(f"{each.name} {each.version}" for each in self.lock.packages)
            lines += ["", f"Packages, exactly: {packages}"]
        return "\n".join([*lines, "", *self._trust()])

    def _trust(self) -> list[str]:
        lines = {
            Trust.VERIFIED: ["Verified: this is the module that came with the computer."],
            Trust.TRUSTED: ["Not verified: install it only if you trust the author."],
            Trust.UNTRUSTED: [
                "Untrusted: it gets only its own folder; no network, and no files, tools, interfaces or events of others."
            ],
        }[self.module.trust]
        if self.module.dev:
            lines.append(
                f"It runs in place, from {self.module.dev}: changes need no new approval unless its permissions change."
            )
        if not is_enforced():
            lines.append(
                "Without bubblewrap nothing enforces these limits here, unless systemd runs the computer as services."
            )
        return lines


def consent_of(manifest: Manifest, agents: Iterable[BroughtAgent], trust: Trust) -> Consent:
    """The consent that a module asks for, the scheduled agents that it brings included."""
    scheduled = tuple(found for agent in agents if (found := _scheduled(agent)) is not None)
    return consent(manifest, scheduled, untrusted=trust is Trust.UNTRUSTED)


def _scheduled(agent: BroughtAgent) -> ScheduledConsent | None:
    definition = agent.definition
    if definition is None:
        return None  # it cannot run, and no module that has it can be installed
    return ScheduledConsent(
        name=agent.name,
        display_name=definition.display_name,
        description=definition.description,
        time=str(definition.at) if isinstance(definition.at, TimeOfDay) else definition.at.words,
        by_itself=definition.is_enabled,
        output=definition.output,
        tools=(*definition.capabilities, *definition.mcp_tools),
        model=definition.model or "",
        can_suggest=definition.can_suggest,
    )


def approved_consent(module: InstalledModule | None) -> Consent | None:
    """The approved consent of a module; None if there is none, or another version of this program stored it."""
    if module is None or module.permissions is None:
        return None
    try:
        return convert(module.permissions, Consent)
    except ValidationError:
        return None


def is_enforced() -> bool:
    """True if this system can enforce what the consent says."""
    return sys.platform == "linux" and shutil.which("bwrap") is not None
