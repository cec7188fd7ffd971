"""`manifest.yaml`: its fields, errors with line and field, and what the consent screen shows."""

from parachute.modules.manifest.consents import (
    AgentConsent,
    Consent,
    ConsentDifference,
    ScheduledConsent,
    consent,
    difference,
)
from parachute.modules.manifest.loading import FILE_NAME, ManifestInvalid, load, parse
from parachute.modules.manifest.models import (
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
