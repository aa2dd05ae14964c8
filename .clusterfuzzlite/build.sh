#!/bin/bash -eu
# Builds every fuzz target for libFuzzer, in the container of ClusterFuzzLite and in
# that of OSS-Fuzz, which sets SRC and OUT. A fuzzer has its target's name.
cd "$SRC/chunkwire"

# Without cgo, since the flags of C are those of the fuzzers.
CGO_ENABLED=0 go build -o /tmp/seeds ./fuzz/seeds

/tmp/seeds -list >/tmp/targets
while read -r target; do
  compile_native_go_fuzzer_v2 github.com/chunkwire/chunkwire/fuzz "$target" "$target"
done </tmp/targets

# f.Add is ignored here.
/tmp/seeds -out "$OUT"

for target in FuzzPort FuzzVectors; do
  cp .clusterfuzzlite/json.dict "$OUT/$target.dict"
done
