"""A push service on the loopback, as those of browsers behave (RFC 8030), and a browser that subscribed there (RFC 8291)."""

import asyncio
import json
import ssl
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from parachute.connectors.push.models import decoded, encoded
from tests.support.authority import signed
from tests.support.changes import Changes
from tests.support.server import Server, TimedServer

PUBLIC = "93.184.216.34"
KNOWN, OTHER = "fcm.googleapis.com", "push.example.org"


class Subscriber:
    """The keys of a browser, of which the service knows none."""

    def __init__(self, host: str = KNOWN, name: str = "a") -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())
        self._public = self._private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self._secret = b"sixteen  letters"
        self.path = f"/send/{name}"
        self.body = {
            "endpoint": f"https://{host}{self.path}",
            "key": encoded(self._public),
            "secret": encoded(self._secret),
            "language": "en",
        }

    def read(self, body: bytes) -> dict[str, Any]:
        """The message that was encrypted to this browser."""
        salt, length, sender = body[:16], body[20], body[21 : 21 + body[20]]
        assert length == 65
        shared = self._private.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
        both = HKDF(SHA256(), 32, self._secret, b"WebPush: info\0" + self._public + sender).derive(shared)
        key = HKDF(SHA256(), 16, salt, b"Content-Encoding: aes128gcm\0").derive(both)
        nonce = HKDF(SHA256(), 12, salt, b"Content-Encoding: nonce\0").derive(both)
        found: dict[str, Any] = json.loads(AESGCM(key).decrypt(nonce, body[86:], None).rstrip(b"\0")[:-1])
        return found


class PushService:
    """Takes what is sent; `answers` are statuses with their headers, in turn, and then 201. `meanwhile` is called before each."""

    def __init__(self, folder: Path) -> None:
        self.certificate = signed(None, folder / "push-service.pem", KNOWN, OTHER)
        self.taken: list[tuple[str, dict[str, str], bytes]] = []
        self.answers: list[tuple[int, dict[str, str]]] = []
        self.changes = Changes()
        self.meanwhile: Callable[[], object] = lambda: None
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                status, headers = service.answers.pop(0) if service.answers else (201, {})
                service.meanwhile()
                service.taken.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", "0")
                self.end_headers()
                service.changes.tell()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, name="push service").start()

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()

    def wait(self, number: int) -> tuple[str, dict[str, str], bytes]:
        """The request of this number, from 1."""
        self.changes.wait(lambda: len(self.taken) >= number, f"{number} notices are sent")
        return self.taken[number - 1]

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Both names lead to the internet."""
        return [{KNOWN: PUBLIC, OTHER: PUBLIC}.get(host, "10.0.0.7")]

    async def connect(self, address: str, port: int, **_: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to this service, which is at that address of the internet."""
        assert (address, port) == (PUBLIC, 443)
        return await asyncio.open_connection("127.0.0.1", self._server.server_port)


def claims(authorization: str, audience: str) -> dict[str, Any]:
    """Check a header of RFC 8292, and return what was signed."""
    scheme, _, values = authorization.partition(" ")
    found = dict(each.strip().split("=", 1) for each in values.split(","))
    assert scheme == "vapid"
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(found["k"]))
    read: dict[str, Any] = jwt.decode(found["t"], public, ["ES256"], audience=audience, options={"verify_exp": False})
    return read


class Reaching(Server):
    """A server whose internet has a push service in it."""

    service: PushService

    def _make_network(self) -> dict[str, Any]:
        return {"resolve": self.service.resolve, "connect": self.service.connect}


class ToldServer(TimedServer, Reaching):
    """Such a server, whose time stands still."""
