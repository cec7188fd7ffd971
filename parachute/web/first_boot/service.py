"""The key that sets a new computer up: made once, shown until it is used, and worthless when set-up is done."""

from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from parachute.base.clock import now
from parachute.base.errors import Conflict
from parachute.base.files import locked
from parachute.security.keys.models import FIRST_BOOT, Caller, Key
from parachute.security.keys.service import Keys
from parachute.web.first_boot.models import Invitation, Progress
from parachute.web.first_boot.store import ProgressStore

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_AGAIN = "`parachute first-boot --again` on the computer itself makes a new key."


def current_boot() -> str | None:
    """Return the identity of this boot of the machine; None where the system does not say."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return None


class FirstBoot:
    """The set-up of one installation; every method waits for the disk, so call it outside of an event loop."""

    def __init__(self, home: Path, keys: Keys) -> None:
        self._store = ProgressStore(home)
        self._keys = keys

    @property
    def is_open(self) -> bool:
        """Return whether the computer waits for being set up; errors: ParachuteError (`setup_unreadable`), KeysUnreadable.

        One that got its keys in another way does not, and neither does one that has lost them.
        """
        progress = self._store.read()
        if progress is None:
            return not self._others() and not self._keys.are_gone
        return progress.done_at is None

    def invite(self, *, again: bool = False, boot: str | None) -> Invitation:
        """Make the key and return its secret, or say why there is none; a key of before is revoked.

        Within one `boot` a key that was used stays, and none is made; after a restart whoever stands before the machine
        gets a new one. `again` begins anew whatever there was. Errors: ParachuteError (`setup_unreadable`), KeysUnreadable, OSError.
        """
        with locked(self._store.path):
            if not again and (refusal := self._refusal(boot)):
                return refusal
            key, secret = self._keys.create_first()
            try:
                self._store.write(Progress(key.id, boot))
            except BaseException:
                self._keys.revoke(key.id)
                raise
            self._revoke(keep=key.id)
            return Invitation(secret)

    def note_use(self, caller: Caller) -> None:
        """Write down that the key works in somebody's hands, so that another start of the command takes it from nobody."""
        if caller.kind != "key" or caller.name != FIRST_BOOT:
            return
        with locked(self._store.path):
            progress = self._store.read()
            if progress is not None and progress.done_at is None and not progress.used:
                self._store.write(replace(progress, used=True))

    def begin(self) -> None:
        """Note that somebody sets the computer up: a key that is made meanwhile does not end that, `finish` does.

        Errors: ParachuteError (`setup_unreadable`), KeysUnreadable, OSError.
        """
        if self._store.read() is not None or not self.is_open:
            return
        with locked(self._store.path):
            if self._store.read() is None:
                self._store.write(Progress())

    def finish(self, browsers: Iterable[Key] = ()) -> None:
        """Set-up is done: the first key is revoked; `browsers` are those that are signed in.

        Errors: Conflict if neither another key nor a browser has admin rights, ParachuteError (`setup_unreadable`), OSError.
        """
        with locked(self._store.path):
            progress = self._store.read() or Progress()
            if progress.done_at is not None:
                return
            has_browser = any(browser.is_admin for browser in browsers)
            if not has_browser and not any(key.is_admin for key in self._others()):
                raise Conflict(
                    "There is no other key with admin rights yet, and no browser, so this computer could no longer be administered.",
                    "Sign a browser in, or make a key for your app first.",
                    key="no_other_key",
                )
            # The key goes first: cut off here, the next start of the machine shows a new one.
            self._revoke(keep_admin=not has_browser)
            self._store.write(Progress(done_at=now()))

    def _refusal(self, boot: str | None) -> Invitation | None:
        progress = self._store.read()
        if progress is None:
            if self._others():
                return Invitation(None, f"This computer has keys already. {_AGAIN}", is_done=True)
            if self._keys.are_gone:
                return Invitation(None, f"This computer had keys, and their file is gone. {_AGAIN}", is_done=True)
            return None
        if progress.done_at is not None:
            return Invitation(None, f"This computer is set up. {_AGAIN}", is_done=True)
        if progress.boot != boot or not self._is_used(progress):
            return None
        return Invitation(
            None,
            "This computer is being set up: the key was used. To show a new one, restart the machine or run "
            "`parachute first-boot --again`.",
        )

    def _is_used(self, progress: Progress) -> bool:
        if progress.used:
            return True
        return any(key.id == progress.key and key.last_used_at is not None for key in self._keys.list())

    def _others(self) -> list[Key]:
        return [key for key in self._keys.list() if key.label != FIRST_BOOT]

    def _revoke(self, keep: str | None = None, *, keep_admin: bool = True) -> None:
        for key in self._keys.list():
            if key.label == FIRST_BOOT and key.id != keep:
                # The others may be revoked at this very moment.
                self._keys.revoke(key.id, keep_admin=keep_admin)
