#!/usr/bin/env bash
# httpx2 2.16.2 (Client.sse) reads what sse-starlette 3.7.0 writes.
# Expected: a block of server-sent events without a "data" line is no event; the HTML standard says so (9.2.6: an
# empty data buffer is not dispatched). So a server may send "id" or "retry" alone to say where to resume, and when.
# Seen: httpx2 delivers an empty message for each, so json() of the event fails; a comment alone is none.
#   b'retry: 5000\r\n\r\n'    1 event  message ''
#   b'id: 7\r\n\r\n'          1 event  message ''
#   b'event: tick\r\n\r\n'    1 event  tick ''
#   b': ping\r\n\r\n'         0 events
#   b'data: 1\r\n\r\n'        1 event  message '1'
# 2026-11-29
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q httpx2==2.16.2 sse-starlette==3.7.0
"$folder/venv/bin/python" - <<'PYTHON'
import httpx2
from sse_starlette import ServerSentEvent


def events(written):
    headers = {"content-type": "text/event-stream"}
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, headers=headers, content=written))
    with httpx2.Client(transport=transport) as client, client.sse("http://server/") as source:
        return [(event.event, event.data) for event in source]


cases = [({"retry": 5000}, [("message", "")]), ({"id": "7"}, [("message", "")]), ({"event": "tick"}, [("tick", "")])]
for fields, expected in [*cases, ({"comment": "ping"}, []), ({"data": 1}, [("message", "1")])]:
    written = ServerSentEvent(**fields).encode()
    seen = events(written)
    shown = f"1 event  {seen[0][0]} {seen[0][1]!r}" if seen else "0 events"
    print(f"{written!s:<25} {shown}")
    assert seen == expected
PYTHON
