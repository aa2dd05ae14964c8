#!/usr/bin/env bash
# Fuzzes every target: fuzz/run.sh EXECUTIONS. With two more arguments, EVERY and FROM, one
# target in EVERY, others for another number FROM. Failures are in testdata/fuzz beside the target, the
# corpus in $(go env GOCACHE)/fuzz. It counts executions, since a time limit can end in
# an error that is none (golang/go#75804).
set -euo pipefail
cd "$(dirname "$0")/.."
executions=${1:?how many executions?}
every=${2:-1}
i=$((${3:-0}))
failed=0
for package in ./fuzz ./cmd/chunkwire ./internal/udp; do
  for target in $(go test "$package" -list '^Fuzz' | grep '^Fuzz'); do
    i=$((i + 1))
    ((i % every == 0)) || continue
    echo "$target"
    go test "$package" -run '^$' -fuzz "^$target\$" -fuzztime "${executions}x" -fuzzminimizetime 2s || failed=1
  done
done
exit "$failed"
