"""The file with which Avahi announces this computer: `/etc/avahi/services/parachute.service`."""

from parachute import __version__

PATH = "/etc/avahi/services/parachute.service"
SERVICE = "_parachute._tcp"
API_PATH = "/api"


def service_file(port: int) -> str:
    """The text of the file, in the words of avahi.service(5): a service, its port, and version and path as TXT records."""
    return f"""<?xml version="1.0" standalone="no"?>
<!DOCTYPE service-group SYSTEM "avahi-service.dtd">
<service-group>
  <name replace-wildcards="yes">Parachute on %h</name>
  <service>
    <type>{SERVICE}</type>
    <port>{port}</port>
    <txt-record>version={__version__}</txt-record>
    <txt-record>path={API_PATH}</txt-record>
  </service>
</service-group>
"""
