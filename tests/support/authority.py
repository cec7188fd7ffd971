"""Certificates that nobody's program would make: what an attacker signs who has the key of a home's authority."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from parachute.base.addresses import parse_address


def signed(authority: Path | None, target: Path, *names: str, days: int = 30) -> Path:
    """Write a certificate for these names, and its key, to one file; signed by the authority in a file, or by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    issuer, signing = subject, key
    if authority is not None:
        data = authority.read_bytes()
        issuer = x509.load_pem_x509_certificate(data).subject
        loaded = serialization.load_pem_private_key(data, None)
        assert isinstance(loaded, ec.EllipticCurvePrivateKey)
        signing = loaded
    addresses = {name: parse_address(name) for name in names}
    alternatives = [x509.IPAddress(address) if address else x509.DNSName(name) for name, address in addresses.items()]
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=60))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key()), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(signing, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    target.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return target
