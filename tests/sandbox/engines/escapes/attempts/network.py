"""Services of the machine, by every protocol."""

import os
import socket
from typing import Any

from table import ROOT, Place, Refused, any_of, attempt


def asked(place: Place, family: int, kind: int, address: Any) -> str:
    """Check that a planted service answers."""
    with socket.socket(family, kind) as client:
        client.settimeout(3)
        if family == socket.AF_UNIX and kind == socket.SOCK_DGRAM:
            client.bind("")  # an abstract name of our own, to be answered at
        client.connect(address)
        client.send(b"x")
        if client.recv(1) != b"y":
            raise Refused("something else answered")
    return f"{address} answered"


@attempt("reach a server of the machine (tcp)")
def tcp(place: Place) -> object:
    return asked(place, socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", place["tcp"]))


@attempt("reach a server of the machine (tcp, ipv6)")
def tcp6(place: Place) -> object:
    return asked(place, socket.AF_INET6, socket.SOCK_STREAM, ("::1", place["tcp6"]))


@attempt("reach a server of the machine (udp)")
def udp(place: Place) -> object:
    return asked(place, socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", place["udp"]))


@attempt("reach a server of the machine (udp, ipv6)")
def udp6(place: Place) -> object:
    return asked(place, socket.AF_INET6, socket.SOCK_DGRAM, ("::1", place["udp6"]))


@attempt("reach a server of the machine (abstract socket)")
def abstract(place: Place) -> object:
    return asked(place, socket.AF_UNIX, socket.SOCK_STREAM, f"\0{place['abstract']}")


@attempt("reach a server of the machine (abstract datagrams)")
def datagrams(place: Place) -> object:
    return asked(place, socket.AF_UNIX, socket.SOCK_DGRAM, f"\0{place['abstract']}-datagrams")


@attempt("reach a server of the machine (named socket)")
def named(place: Place) -> object:
    return asked(place, socket.AF_UNIX, socket.SOCK_STREAM, place["named"])


@attempt("ask the machine's name server")
def names(place: Place) -> object:
    question = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03com\x00\x00\x01\x00\x01"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(3)
        client.connect(("127.0.0.1", place["udp"]))
        client.send(question)
        return len(client.recv(512))


@attempt("make a raw socket", ROOT)
def raw(_: Place) -> object:
    kinds = [
        (socket.AF_INET, socket.SOCK_RAW, 1),
        (socket.AF_INET, socket.SOCK_RAW, 255),
        (socket.AF_INET6, socket.SOCK_RAW, 58),
    ]
    return any_of(kinds, lambda each: socket.socket(*each))


@attempt("read packets from the wire", ROOT)
def packets(_: Place) -> object:
    return any_of((socket.SOCK_RAW, socket.SOCK_DGRAM), lambda kind: socket.socket(socket.AF_PACKET, kind, 0))


@attempt("have a way out of its network", ROOT)
def routes(_: Place) -> object:
    with open("/proc/net/dev", encoding="ascii") as file:
        found = {line.partition(":")[0].strip() for line in file if ":" in line} - {"lo"}
    with open("/proc/net/route", encoding="ascii") as file:
        lines = file.read().splitlines()[1:]
    if not found and not lines:
        raise Refused("its own loopback only")
    return found


@attempt("reach a server of the machine through the model's socket")
def proxied(place: Place) -> object:
    """The gateway is no proxy, whatever it is asked."""

    def through(path: str) -> str:
        for request in (f"CONNECT 127.0.0.1:{place['tcp']}", f"GET http://127.0.0.1:{place['tcp']}/"):
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(5)
                client.connect(path)
                client.send(f"{request} HTTP/1.1\r\nhost: 127.0.0.1:{place['tcp']}\r\n\r\nx".encode())
                answer = client.recv(4096)
            if answer == b"y" or b" 200 " in answer:
                return request
        raise Refused("it is no proxy")

    # Outside it is a planted socket, which answers whatever it is asked.
    folder = "/run/parachute" if os.path.isdir("/run/parachute") else None
    paths = [f"{folder}/{name}" for name in os.listdir(folder)] if folder else [place["named"]]
    return any_of(paths, through)
