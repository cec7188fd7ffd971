"""The key by which push services know this computer (VAPID, RFC 8292), in `~/.parachute/push.pem`."""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from parachute.base.clock import Clock
from parachute.base.errors import ParachuteError, Unavailable
from parachute.base.files import atomic_write, locked
from parachute.base.private_files import read_private
from parachute.connectors.push.models import encoded

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

FILE = "push.pem"
_LIMIT = 4096
_HOURS = 12


class Identity:
    """Made at the first need. Every method waits for the disk the first time."""

    def __init__(self, root: Path, clock: Clock) -> None:
        self._path = root / FILE
        self._clock = clock
        self._known: tuple[EllipticCurvePrivateKey, str] | None = None

    @property
    def public(self) -> str:
        """The public key, as browsers want it; error: Unavailable."""
        return self._keys()[1]

    def authorization(self, origin: str, contact: str) -> str:
        """The header that proves to a push service who sends, with an address to reach them at; error: Unavailable."""
        import jwt  # a megabyte, and for those who are told alone

        private, public = self._keys()
        claims = {"aud": origin, "exp": self._clock.now() + timedelta(hours=_HOURS), "sub": contact}
        return f"vapid t={jwt.encode(claims, private, 'ES256')}, k={public}"

    def _keys(self) -> "tuple[EllipticCurvePrivateKey, str]":
        if self._known is None:
            from cryptography.exceptions import UnsupportedAlgorithm
            from cryptography.hazmat.primitives import serialization
            from cryptography.hazmat.primitives.asymmetric import ec

            with locked(self._path):
                try:
                    private = serialization.load_pem_private_key(read_private(self._path, _LIMIT).data, None)
                except FileNotFoundError:
                    private = ec.generate_private_key(ec.SECP256R1())
                    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
                    atomic_write(self._path, private.private_bytes(*form, serialization.NoEncryption()), 0o600)
                except (ValueError, TypeError, UnsupportedAlgorithm, OSError, ParachuteError) as error:
                    raise self._broken() from error
            if not isinstance(private, ec.EllipticCurvePrivateKey) or not isinstance(private.curve, ec.SECP256R1):
                raise self._broken()
            form_ = (serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
            self._known = private, encoded(private.public_key().public_bytes(*form_))
        return self._known

    def _broken(self) -> Unavailable:
        return Unavailable(
            f"{FILE} holds no key for notices.",
            "Delete the file, and switch notices on again on each device.",
            key="push_key_unreadable",
        )
