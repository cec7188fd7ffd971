"""The list of what is in an image: packages of Debian and of Python, in the format SPDX 2.3."""

import hashlib
import json
from datetime import UTC, datetime
from email import message_from_string
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packages import program
from packages.machine_image import lock, recipe


def spdx(root: Path, name: str) -> str:
    """The list as JSON: each package with its version, its licence as far as it says one, and its name for scanners (purl)."""
    distribution = f"distro=debian-{program.SUITE}"
    found = [
        _package(
            "deb",
            each["Package"],
            each["Version"],
            f"pkg:deb/debian/{{}}@{{}}?arch={each['Architecture']}&{distribution}",
        )
        for each in lock.stanzas(root)
    ]
    for metadata in sorted(root.glob(f"{str(program.FOLDER)[1:]}/lib/python*/site-packages/*.dist-info/METADATA")):
        said = message_from_string(metadata.read_text(errors="replace"))
        found.append(_package("pypi", said["Name"], said["Version"], "pkg:pypi/{}@{}", said["License-Expression"]))
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "creationInfo": {
            "created": datetime.fromtimestamp(recipe.EPOCH, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: parachute-computer-make-image"],
        },
        "packages": found,
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": each["SPDXID"]}
            for each in found
        ],
    }
    digest = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    document["documentNamespace"] = f"https://parachute.invalid/spdx/{name}-{digest}"
    return json.dumps(document, indent=1, sort_keys=True) + "\n"


def _package(kind: str, name: str, version: str, locator: str, licence: str | None = None) -> dict[str, Any]:
    identifier = "".join(character if character.isalnum() or character in ".-" else "-" for character in name)
    return {
        "SPDXID": f"SPDXRef-{kind}-{identifier}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": licence or "NOASSERTION",
        "externalRefs": [
            {
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": locator.format(quote(name, safe=""), quote(version, safe="")),
            }
        ],
    }
