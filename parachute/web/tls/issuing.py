"""The program that makes certificates: `python -m parachute.web.tls.issuing REQUEST`.

A process of its own, because the server would keep the library's eight megabytes for what it needs once in two months.
"""

import asyncio
import socket
import sys
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import msgspec
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from msgspec import Struct

from parachute.base.addresses import parse_address
from parachute.base.errors import ParachuteError
from parachute.base.files import atomic_write, locked, read_regular
from parachute.web.discovery.avahi import announced_name
from parachute.web.tls.models import LIFE, Authority, Certificate, Issued
from parachute.web.tls.names import limits, own_names, permits
from parachute.web.tls.store import Store, identity

_LIFE_OF_AUTHORITY = timedelta(days=3650)
_EARLIER = timedelta(days=1)
"""Clocks of phones differ; a certificate of this minute would be refused by those that are slow."""

_LIMIT = 256 * 1024
_Pair = tuple[ec.EllipticCurvePrivateKey, x509.Certificate]


class Request(Struct, frozen=True, kw_only=True):
    """Request of the server for certificates: `hostnames` and `own` as the settings say, `force` a new certificate also if none is due.

    With `anew` there is another authority, too.
    """

    home: str
    hostnames: list[str]
    own: list[str | None]
    now: float
    force: bool = False
    anew: bool = False


def main() -> int:
    """Make what is asked for; 1 with a sentence if it cannot be made."""
    try:
        request = msgspec.json.decode(sys.argv[1], type=Request)
        announced = asyncio.run(announced_name())
        issue(request, socket.gethostname().partition(".")[0].lower() or "home", announced)
    except (OSError, ValueError, ParachuteError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 1
    return 0


def issue(request: Request, hostname: str, announced: str | None) -> Issued:
    """Write the certificate, and the authority before it, as far as they are due; errors: OSError, ParachuteError."""
    store = Store(Path(request.home))
    store.prepare()
    now = datetime.fromtimestamp(request.now, UTC)
    own = [Path(each) if each else None for each in request.own]
    with locked(store.authority):
        before = store.read()
        names = own_names(request.hostnames, announced or _known(before))
        files = identity(own)
        is_usable = before is not None and not before.is_due(now, names, files) and store.certificate.exists()
        if before is not None and is_usable and not (request.force or request.anew):
            return before
        authority = None if request.anew else _read_authority(store.authority, now)
        if authority is None:
            authority = _make_authority(hostname, names, now)
            _write(store.authority, authority)
        permitted = _permitted(authority[1])
        signed = [name for name in names if permits(permitted, name)]
        certificate = _make_certificate(authority, signed, now)
        _write(store.certificate, certificate)
        found, problem = _inspect(own[0]) if own and own[0] else (None, None)
        issued = Issued(
            Authority(
                str(authority[1].subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value),
                fingerprint(authority[1]),
                _time(authority[1].not_valid_after_utc),
                tuple(permitted),
                authority[1].public_bytes(serialization.Encoding.PEM).decode(),
            ),
            _described(certificate[1]),
            tuple(name for name in names if name not in signed),
            found,
            problem,
            files,
        )
        store.write(issued)
    return issued


def _known(before: Issued | None) -> str | None:
    """The name that Avahi gave when it last answered."""
    names = before.certificate.names if before else ()
    return next((name for name in names if name.endswith(".local")), None)


def fingerprint(certificate: x509.Certificate) -> str:
    """SHA-256 in groups of four, as a person compares it on two screens."""
    digits = certificate.fingerprint(hashes.SHA256()).hex().upper()
    return " ".join(digits[start : start + 4] for start in range(0, len(digits), 4))


def _make_authority(hostname: str, names: list[str], now: datetime) -> _Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    # Two of them, of before and after, can be told apart in the list of a phone.
    name = _name(f"Parachute Computer {hostname[:30]} ({identifier.digest.hex()[:4].upper()})")
    permitted = [x509.IPAddress(ip_network(each)) if "/" in each else x509.DNSName(each) for each in limits(names)]
    builder = (
        _builder(name, name, key, now, _LIFE_OF_AUTHORITY)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.NameConstraints(permitted, None), critical=True)
        .add_extension(identifier, critical=False)
    )
    return key, builder.sign(key, hashes.SHA256())


def _make_certificate(authority: _Pair, names: list[str], now: datetime) -> _Pair:
    signing, issuer = authority
    key = ec.generate_private_key(ec.SECP256R1())
    addresses = {name: parse_address(name) for name in names}
    alternatives = [
        x509.DNSName(name) if address is None else x509.IPAddress(address) for name, address in addresses.items()
    ]
    builder = (
        _builder(_name("Parachute Computer"), issuer.subject, key, now, LIFE)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key()), critical=False)
    )
    return key, builder.sign(signing, hashes.SHA256())


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    begin = now - _EARLIER
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(now + life)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _read_authority(path: Path, now: datetime) -> _Pair | None:
    """The authority, None before the first time and when it would end before what it is to sign; error: ParachuteError."""
    try:
        data = read_regular(path, _LIMIT)
    except FileNotFoundError:
        return None
    try:
        certificate = x509.load_pem_x509_certificate(data)
        key = serialization.load_pem_private_key(data, None)
        fits = isinstance(key, ec.EllipticCurvePrivateKey) and key.public_key() == certificate.public_key()
        _permitted(certificate)
    except (ValueError, TypeError, UnsupportedAlgorithm, x509.ExtensionNotFound) as error:
        raise _unreadable(path, str(error)) from error
    if not fits or not isinstance(key, ec.EllipticCurvePrivateKey):
        raise _unreadable(path, "key and certificate do not belong together")
    return (key, certificate) if certificate.not_valid_after_utc > now + LIFE else None


def _unreadable(path: Path, reason: str) -> ParachuteError:
    return ParachuteError(
        f"{path} cannot be read: {reason.rstrip('.')}.",
        "Put it back from a backup; or make another with `parachute tls renew --authority`, which each device must then trust.",
        key="authority_unreadable",
    )


def _permitted(certificate: x509.Certificate) -> list[str]:
    found = certificate.extensions.get_extension_for_class(x509.NameConstraints).value
    return [str(each.value) for each in found.permitted_subtrees or ()]


def _write(path: Path, pair: _Pair) -> None:
    key, certificate = pair
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    atomic_write(path, private + certificate.public_bytes(serialization.Encoding.PEM), 0o600)


def _inspect(path: Path) -> tuple[Certificate | None, str | None]:
    """The certificate in a file of the owner's own, or why there is none."""
    try:
        # Not as what we write ourselves: those who renew such files put links there.
        with path.open("rb") as file:
            return _described(x509.load_pem_x509_certificates(file.read(_LIMIT))[0]), None
    except (OSError, ValueError) as error:
        return None, f"The certificate {path} cannot be read: {str(error).rstrip('.')}."


def _described(certificate: x509.Certificate) -> Certificate:
    names: list[Any] = []
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        names += [*found.get_values_for_type(x509.DNSName), *found.get_values_for_type(x509.IPAddress)]
    except (x509.ExtensionNotFound, ValueError):
        pass  # no browser takes a certificate without
    starts, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return Certificate(tuple(map(str, names)), fingerprint(certificate), _time(starts), _time(ends))


def _time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


if __name__ == "__main__":
    sys.exit(main())
