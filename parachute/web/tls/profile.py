"""The authority as a configuration profile, which iPhones, iPads and Macs install from one tap."""

import ssl
import uuid

from parachute.web.tls.models import Authority

MEDIA_TYPE = "application/x-apple-aspen-config"


def profile(authority: Authority) -> bytes:
    """The profile; the same authority always gives the same one, so that a device replaces it and keeps no second."""
    import plistlib  # with it comes a parser of XML

    made_for = uuid.uuid5(uuid.NAMESPACE_URL, f"parachute:{authority.fingerprint}")
    certificate = uuid.uuid5(made_for, "certificate")
    about = (
        f"Lets this device trust https:// of your own computer, and of nothing else. SHA-256: {authority.fingerprint}"
    )
    return plistlib.dumps(
        {
            "PayloadType": "Configuration",
            "PayloadVersion": 1,
            "PayloadIdentifier": f"computer.parachute.{made_for}",
            "PayloadUUID": str(made_for).upper(),
            "PayloadDisplayName": authority.name,
            "PayloadDescription": about,
            "PayloadContent": [
                {
                    "PayloadType": "com.apple.security.root",
                    "PayloadVersion": 1,
                    "PayloadIdentifier": f"computer.parachute.{certificate}",
                    "PayloadUUID": str(certificate).upper(),
                    "PayloadDisplayName": authority.name,
                    "PayloadCertificateFileName": "parachute.crt",
                    "PayloadContent": ssl.PEM_cert_to_DER_cert(authority.pem),
                }
            ],
        }
    )
