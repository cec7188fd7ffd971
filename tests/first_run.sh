#!/usr/bin/env bash
# A newcomer's first minutes: a clean clone, an empty home, one command, a chat with the model on this machine.
set -euo pipefail
source_folder=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)
folder=$(mktemp -d /tmp/first-run-XXXXXX)
port=${PORT:-3847}
url=http://127.0.0.1:$port
export HOME=$folder/home PARACHUTE_PORT=$port
unset ANTHROPIC_API_KEY CLAUDE_CODE_OAUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_AUTH_TOKEN
mkdir "$HOME"

finish() {
  status=$?
  [ $status = 0 ] || tail -n 30 "$HOME"/.parachute/logs/*.log || true
  "$folder/clone/.venv/bin/parachute" stop || true
  rm -rf "$folder"
  exit $status
}
trap finish EXIT

fail() { echo "FAILED: $1"; exit 1; }

# All of it is read: with pipefail, a program whose reader has gone would have failed.
finds() { grep "$@" >/dev/null; }

ask() {
  curl -sSN --max-time 180 -X POST "$url/api/chat" -H 'content-type: application/json' \
    -d "{\"message\":\"$1\",\"sessionId\":\"new\",\"module\":\"chat\"}"
}

git clone --quiet "$source_folder" "$folder/clone"
cd "$folder/clone"
# A person at a terminal, who presses Enter at every question.
entering() { (trap '' PIPE; while sleep 1 && echo; do :; done) 2>/dev/null | script -qefc "$1" /dev/null; }

export SHELL=/bin/bash
entering 'make run' | tee "$folder/made"
! grep -q '^Ignoring' "$folder/made" || fail "pip names what other systems need"
[ -x "$HOME/.local/bin/parachute" ] || fail "Enter did not link the program"
grep -q "Next  *~/.local/bin/parachute chat" "$folder/made" || fail "the end does not say what to type"
[ "$(.venv/bin/parachute modules list --json | grep -c '"state": "ready"')" = 4 ] || fail "Enter did not install the modules"
export PATH=$HOME/.local/bin:$PATH

echo "== two questions over the API"
first=$(ask 'What is a journal good for?')
second=$(ask 'Name the colours of a rainbow.')
for answer in "$first" "$second"; do
  grep -q '"type": "text"' <<<"$answer" || fail "no text streamed: $answer"
  tail -n 2 <<<"$answer" | finds '"type": "done"' || fail "the stream did not end with done: $answer"
done
text() { grep '"type": "text"' <<<"$1" | tail -n 1 | sed -E 's/.*"content": "(.*)", "seq".*/\1/'; }
echo "$(text "$first")"
echo "$(text "$second")"
[ "$(text "$first")" != "$(text "$second")" ] || fail "two different questions got the same answer"

echo "== the agent is in a network of its own"
agent=$(pgrep -f "^/opt/parachute/agent" | tail -n 1)
[ -n "$agent" ] || fail "no agent process is there"
[ "$(readlink "/proc/$agent/ns/net")" != "$(readlink /proc/self/ns/net)" ] || fail "the agent shares our network"

echo "== the gateway counted"
.venv/bin/python - "$HOME/.parachute/trust.db" <<'PYTHON' || fail "the gateway's usage did not grow"
import sqlite3, sys
requests, tokens = sqlite3.connect(sys.argv[1]).execute("SELECT sum(requests), sum(output_tokens) FROM usage").fetchone()
print(requests, "requests,", tokens, "tokens")
sys.exit(0 if requests >= 2 and tokens > 0 else 1)
PYTHON

echo "== a chat in the terminal"
[ -n "$(.venv/bin/parachute chat hello)" ] || fail "parachute chat said nothing"
.venv/bin/parachute status

echo "== one module written a minute ago"
.venv/bin/parachute daily add "Met with Kevin about the LVB curriculum."
.venv/bin/parachute daily today | finds "LVB curriculum" || fail "the journal has no entry"
.venv/bin/parachute modules new reading
git -C reading init --quiet
git -C reading -c user.name=me -c user.email=me@example.org add --all
git -C reading -c user.name=me -c user.email=me@example.org commit --quiet -m first
.venv/bin/parachute modules install "file://$PWD/reading" --yes
curl -sSf -X POST "$url/api/reading/notes" -H 'content-type: application/json' -d '{"text":"Momo"}'
curl -sSf "$url/api/reading/notes" | finds Momo || fail "the module did not keep its note"
echo "# edited" >> "$HOME/Parachute/.modules/reading/module.py"
.venv/bin/parachute modules diff reading | finds "^+# edited" || fail "the edit is not shown"
.venv/bin/parachute modules status reading

echo "== a newer version of the repository, and back"
git clone --quiet --bare "$source_folder" "$folder/upstream"
git clone --quiet "$folder/upstream" "$folder/author"
sed -i 's/^__version__ = .*/__version__ = "99.0.0"/' "$folder/author/parachute/__init__.py"
git -C "$folder/author" -c user.name=me -c user.email=me@example.org commit --quiet -am newer
git -C "$folder/author" push --quiet
git remote set-url origin "$folder/upstream"
.venv/bin/parachute modules remove reading --yes
.venv/bin/parachute config set updates.probation_minutes 0.1
.venv/bin/parachute update || fail "the update did not stay"
curl -sSf "$url/api/health" | finds 99.0.0 || fail "the newer version does not answer"
.venv/bin/parachute daily today | finds "LVB curriculum" || fail "the journal has lost its entry"
.venv/bin/parachute update back --yes || fail "the version before did not come back"
! curl -sSf "$url/api/health" | finds 99.0.0 || fail "the newer version still answers"
parachute daily today | finds "LVB curriculum" || fail "the journal has lost its entry"

.venv/bin/parachute stop
! curl -s --max-time 2 "$url/api/health" >/dev/null || fail "it still answers after stop"
echo "first run: 1 passed, 0 failed"
