"""`manifest.yaml`: what a module says about itself, and what the user is asked to allow."""

from parachute.manifest.consents import AgentConsent, Consent, ConsentDifference, ScheduledConsent, consent, difference
from parachute.manifest.loading import FILE_NAME, ManifestInvalid, load, parse
from parachute.manifest.models import (
    Hook,
    InterfaceName,
    Manifest,
    Permissions,
    Service,
    Setting,
    ToolDeclaration,
    UserInterface,
)

__all__ = [
    "FILE_NAME",
    "AgentConsent",
    "Consent",
    "ConsentDifference",
    "Hook",
    "InterfaceName",
    "Manifest",
    "ManifestInvalid",
    "Permissions",
    "ScheduledConsent",
    "Service",
    "Setting",
    "ToolDeclaration",
    "UserInterface",
    "consent",
    "difference",
    "load",
    "parse",
]
