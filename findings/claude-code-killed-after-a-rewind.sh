#!/usr/bin/env bash
# claude-agent-sdk 0.2.187 with the Claude Code that it carries, 2.1.330, before a Messages API that answers "Yes.".
# Expected: --resume goes on with the newest answer in the transcript however the program ended, since question and
# answer are in the file at once; and what a person went back behind (--resume-session-at) stays taken back.
# Seen: where the conversation stands is noted (a line "last-prompt" with a "leafUuid") when the program ends. Killed a
# second after an answer on a new branch, it leaves the older note, and that counts: the model is sent the old branch
# again, and not the newer question and answer, which are whole in the file. Nothing says so.
#   back behind two, three; closed                 then sent: one three four
#   back behind two, three; SIGTERM                then sent: one three four
#   back behind two, three; SIGKILL                then sent: one two four
#   the same, with the notes taken from the file   then sent: one three four
#   not back, three; SIGKILL                       then sent: one two three four
# 2026-11-30
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q claude-agent-sdk==0.2.187
cd "$folder"
cat >talk.py <<'PYTHON'
import http.server
import json
import os
import pathlib
import re
import subprocess
import threading
import time

import claude_agent_sdk

PROGRAM = pathlib.Path(claude_agent_sdk.__file__).with_name("_bundled") / "claude"
OPTIONS = "--print --verbose --input-format stream-json --output-format stream-json --setting-sources= --tools=".split()
SESSION = "0000000a-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-4-6", "content": []}
USAGE = {"input_tokens": 1, "output_tokens": 1}
EVENTS = [
    {"type": "message_start", "message": {**MESSAGE, "usage": USAGE}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yes."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": USAGE},
    {"type": "message_stop"},
]
bodies = []


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.writelines(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n".encode() for each in EVENTS)

    def log_message(self, *_):
        pass


def say(word, *options, end="closed"):
    command, pipes = [PROGRAM, *OPTIONS, *options], {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    program = subprocess.Popen(command, env=environment, text=True, **pipes)
    said = {"type": "user", "message": {"role": "user", "content": f"word {word}"}}
    print(json.dumps(said), file=program.stdin, flush=True)
    assert any(json.loads(line)["type"] == "result" for line in program.stdout)
    time.sleep(1)  # the answer is written by now
    {"closed": program.stdin.close, "SIGTERM": program.terminate, "SIGKILL": program.kill}[end]()
    program.wait()
    return " ".join(re.findall(r"word (\w+)", json.dumps(bodies[-1]["messages"])))


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
environment = {"HOME": os.getcwd(), "PATH": os.environ["PATH"], "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
environment |= {"ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}", "ANTHROPIC_API_KEY": "none"}
on = ("--resume", SESSION)
say("one", "--session-id", SESSION)
[path] = pathlib.Path(".claude/projects").glob(f"*/{SESSION}.jsonl")
[first] = [each["uuid"] for each in map(json.loads, path.open()) if each["type"] == "assistant"]
say("two", *on)
before = path.read_text()
back = (*on, "--resume-session-at", first)
cases = [(f"back behind two, three; {end}", back, end, "one three four") for end in ("closed", "SIGTERM")]
cases += [("back behind two, three; SIGKILL", back, "SIGKILL", "one two four")]
cases += [("the same, with the notes taken from the file", back, "SIGKILL", "one three four")]
cases += [("not back, three; SIGKILL", on, "SIGKILL", "one two three four")]
for what, options, end, expected in cases:
    path.write_text(before)
    say("three", *options, end=end)
    lines = [(json.loads(line)["type"], line) for line in path.open()]
    assert [kind for kind, _ in lines].count("assistant") == 3
    path.write_text("".join(line for kind, line in lines if kind != "last-prompt" or "notes" not in what))
    print(f"{what:<46} then sent: {(sent := say('four', *on))}", flush=True)
    assert sent == expected
PYTHON
timeout 100 venv/bin/python talk.py
