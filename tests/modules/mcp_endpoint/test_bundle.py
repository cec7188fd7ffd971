"""The bundle for Claude Desktop, as its manifest describes it."""

import io
import json
import zipfile

import pytest

from parachute.modules.mcp_endpoint.bundle import bundle

ADDRESS = "https://parachute.local:3333/mcp"


@pytest.mark.parametrize("authority", [None, "-----BEGIN CERTIFICATE-----"])
def test_it_names_the_address_and_brings_the_certificate(authority: str | None) -> None:
    with zipfile.ZipFile(io.BytesIO(bundle(ADDRESS, authority))) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        names = set(archive.namelist())
    server = manifest["server"]
    assert {"manifest_version", "name", "version", "description", "author", "server"} <= manifest.keys()
    assert server["entry_point"] in names
    assert server["mcp_config"]["args"][-1] == ADDRESS
    assert ("ca.crt" in names) == bool(authority)
    assert ("NODE_EXTRA_CA_CERTS" in server["mcp_config"]["env"]) == bool(authority)
    assert bundle(ADDRESS, authority) == bundle(ADDRESS, authority)
