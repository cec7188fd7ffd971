"""Encryption of a notice to one device (RFC 8291, aes128gcm of RFC 8188). Imports cryptography: import it in functions."""

import os

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

_RECORD = 4096
_BLOCK = 1024
"""Bytes to which a notice is filled up, so that its length says nothing of it."""


def encrypted(
    message: bytes,
    key: bytes,
    secret: bytes,
    *,
    sender: ec.EllipticCurvePrivateKey | None = None,
    salt: bytes | None = None,
    block: int = _BLOCK,
) -> bytes:
    """Encrypt a message of up to 3,000 bytes to the `key` and `secret` of a subscription; each has a `sender` and a `salt` of its own."""
    sender, salt = sender or ec.generate_private_key(ec.SECP256R1()), salt or os.urandom(16)
    public = sender.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    shared = sender.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), key))
    both = _derived(shared, secret, b"WebPush: info\0" + key + public, 32)
    content_key = _derived(both, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(both, salt, b"Content-Encoding: nonce\0", 12)
    filled = message + b"\2" + bytes(-(len(message) + 1) % block)
    header = salt + _RECORD.to_bytes(4) + len(public).to_bytes() + public
    return header + AESGCM(content_key).encrypt(nonce, filled, None)


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, info).derive(secret)
