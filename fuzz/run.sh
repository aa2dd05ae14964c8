#!/usr/bin/env bash
# Fuzzes every target: fuzz/run.sh EXECUTIONS. With two more arguments, EVERY and FROM, one
# target in EVERY, others for another number FROM. Failures are in fuzz/testdata/fuzz, the
# corpus in $(go env GOCACHE)/fuzz. It counts executions, since a time limit can end in
# an error that is none (golang/go#75804).
set -euo pipefail
cd "$(dirname "$0")/.."
executions=${1:?how many executions?}
every=${2:-1}
i=$((${3:-0}))
failed=0
for target in $(go test ./fuzz -list '^Fuzz' | grep '^Fuzz'); do
  i=$((i + 1))
  ((i % every == 0)) || continue
  echo "$target"
  go test ./fuzz -run '^$' -fuzz "^$target\$" -fuzztime "${executions}x" -fuzzminimizetime 2s || failed=1
done
exit "$failed"
