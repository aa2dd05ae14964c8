#!/usr/bin/env bash
# Fuzzes every target: fuzz/run.sh EXECUTIONS. Failures are in fuzz/testdata/fuzz, the
# corpus in $(go env GOCACHE)/fuzz. It counts executions, since a time limit can end in
# an error that is none (golang/go#75804).
set -euo pipefail
cd "$(dirname "$0")/.."
failed=0
for target in $(go test ./fuzz -list '^Fuzz' | grep '^Fuzz'); do
  echo "$target"
  go test ./fuzz -run '^$' -fuzz "^$target\$" -fuzztime "${1:?how many executions?}x" -fuzzminimizetime 2s || failed=1
done
exit "$failed"
