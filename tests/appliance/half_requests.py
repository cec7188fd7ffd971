"""A stranger who keeps hundreds of connections with half a header open: `half_requests.py PORT COUNT`.

It says so once all are open, opens each again that the other side ends, and goes on until its standard input ends.
"""

import resource
import selectors
import socket
import sys

_HALF = b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nx-a: "


def main() -> None:
    """Hold them open."""
    port, count = map(int, sys.argv[1:])
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin, selectors.EVENT_READ)
    for _ in range(count):
        _open(selector, port)
    sys.stdout.write(f"{count} are open\n")
    sys.stdout.flush()
    while True:
        for key, _events in selector.select():
            if key.fileobj is sys.stdin:
                return
            assert isinstance(key.fileobj, socket.socket)
            try:
                is_over = not key.fileobj.recv(65536)
            except ConnectionError:
                is_over = True
            if is_over:
                selector.unregister(key.fileobj)
                key.fileobj.close()
                _open(selector, port)


def _open(selector: selectors.BaseSelector, port: int) -> None:
    opened = socket.create_connection(("127.0.0.1", port), timeout=60)
    selector.register(opened, selectors.EVENT_READ)
    try:
        opened.sendall(_HALF)
    except ConnectionError:
        pass  # the selector says so, too


if __name__ == "__main__":
    main()
