"""Signing browsers in and out, and confirming that the owner sits before one."""

from collections.abc import Callable

from msgspec import Struct

from parachute.base.clock import SYSTEM, Clock
from parachute.base.errors import Conflict, InvalidInput, NotAllowed, ParachuteError
from parachute.security.keys.browser_sessions import BrowserSessions
from parachute.security.keys.document import label_problem
from parachute.security.keys.models import FIRST_BOOT, Caller, Key, Scope, allows, check_grant
from parachute.security.keys.service import Keys
from parachute.web.first_boot.service import FirstBoot
from parachute.web.pairing.codes import Codes
from parachute.web.pairing.models import Code, WrongCode
from parachute.web.pairing.tries import Tries


class Proof(Struct, frozen=True):
    """Proof for signing in or confirming: a code or a key, and the address that it came from.

    To confirm, the password on the emergency kit will do as well.
    """

    code: str | None
    key: str | None
    address: str
    kit: str | None = None


class _Shown(Struct, frozen=True):
    scopes: tuple[Scope, ...]
    code: Code | None = None
    key: Key | None = None


class Pairing:
    """The pairing of one installation; every method but `make_code` and `cancel_code` waits for the disk.

    `is_kit` tells whether a password is that of the emergency kit that has opened the backups.
    """

    def __init__(
        self,
        keys: Keys,
        browsers: BrowserSessions,
        first_boot: FirstBoot,
        clock: Clock = SYSTEM,
        *,
        is_kit: Callable[[str], bool] = lambda typed: False,
    ) -> None:
        self._is_kit = is_kit
        self._keys = keys
        self._browsers = browsers
        self._first_boot = first_boot
        self._codes = Codes(clock)
        self._tries = Tries(clock)

    def make_code(self, maker: Caller, name: str | None, scopes: tuple[Scope, ...] | None) -> tuple[Code, str]:
        """Make a code with all rights of its maker, or some of them; errors: NotAllowed, InvalidInput, Conflict."""
        granted = maker.scopes if scopes is None else scopes
        check_grant(maker, granted)
        if name is not None and (problem := label_problem(name)):
            raise InvalidInput(f"name: {problem}.", key="invalid_name")
        return self._codes.make(maker, name, granted)

    def is_set_up(self) -> bool | None:
        """Return whether this computer was set up, None where that is not known."""
        try:
            return not self._first_boot.is_open
        except ParachuteError:
            return None  # the log of the start and `parachute doctor` say why

    def cancel_code(self, identifier: str) -> None:
        """End a code before its time; error: NotFound."""
        self._codes.cancel(identifier)

    def sign_in(self, proof: Proof, name: str | None, fallback: str, before: Caller) -> tuple[Key, str]:
        """Sign a browser in, under its own name, that of the code, or `fallback`; returns it and its secret.

        The sign-in of `before`, if it is a browser that was signed in already, ends. Errors: WrongCode, TooManyTries, InvalidInput, Conflict.
        """
        if name is not None and (problem := label_problem(name)):
            raise InvalidInput(f"name: {problem}.", key="invalid_name")  # before the code is used up
        shown = self._taken(proof)
        is_first = shown.key is not None and shown.key.label == FIRST_BOOT
        if is_first:
            self._first_boot.note_use(Caller("key", FIRST_BOOT, shown.scopes))
        # The key of the first boot ends with set-up, which is no reason to sign out who has done it.
        parent = shown.key.id if shown.key is not None and not is_first else None
        label = name or (shown.code.name if shown.code else None) or fallback
        instead_of = before.key if before.kind == "browser" else None
        made, secret = self._browsers.create(label, shown.scopes, parent=parent, instead_of=instead_of)
        self._browsers.note_address(made.id, proof.address)
        self._browsers.flush()
        return made, secret

    def confirm(self, browser: Caller, proof: Proof) -> None:
        """Confirm that the owner sits before a browser, by what may do at least as much as it and is not of its own making.

        Errors: Conflict for another caller, NotAllowed, WrongCode, TooManyTries.
        """
        if browser.kind != "browser" or browser.key is None:
            raise Conflict(
                "Only a browser that is signed in confirms.", "A key needs no confirmation.", key="no_browser"
            )
        if proof.kit is not None:
            # After a restore no other device and no key may be left. It lets nobody in: the browser is signed in already.
            self._check_kit(proof.kit, proof.address)
            self._browsers.confirm(browser.key)
            return
        shown = self._taken(proof)
        if shown.code is not None and shown.code.is_browser and shown.code.maker == browser.key:
            raise NotAllowed(
                "This code was made in this browser.", "Use one of another device, or a key.", key="own_code"
            )
        for scope in browser.scopes:
            if not all(allows(shown.scopes, scope.module, capability) for capability in scope.capabilities):
                raise NotAllowed(
                    "This code or key may do less than this browser.", "Use one that may do as much.", key="lesser_code"
                )
        self._browsers.confirm(browser.key)

    def _taken(self, proof: Proof) -> _Shown:
        """Return the proven rights, a code being used up by that; errors: TooManyTries, WrongCode."""
        self._tries.check(proof.address)
        if proof.key is not None:
            if key := self._keys.authenticate(proof.key):
                return _Shown(key.scopes, key=key)
        elif proof.code is not None and (code := self._codes.take(proof.code)) and self._is_makers(code):
            return _Shown(code.scopes, code=code)
        self._tries.note(proof.address)
        raise WrongCode(
            "This code or key is wrong or has expired.",
            "A code works once, for five minutes; `parachute pair` or a browser that is signed in shows a new one.",
        )

    def _check_kit(self, typed: str, address: str) -> None:
        """Errors: TooManyTries, WrongCode."""
        self._tries.check(address)
        if not self._is_kit(typed):
            self._tries.note(address)
            raise WrongCode(
                "This is not the password on the emergency kit that has opened the backups.",
                "Type it exactly as printed, or use a code or a key.",
            )

    def _is_makers(self, code: Code) -> bool:
        """Return whether whoever made a code still may."""
        if code.maker is None:
            return True
        return (self._browsers if code.is_browser else self._keys).holds(code.maker)
