#!/bin/bash -eu
# Builds every fuzz target for libFuzzer, in the container of ClusterFuzzLite and in
# that of OSS-Fuzz, which sets SRC and OUT. A fuzzer has its target's name.
cd "$SRC/chunkwire"

targets=(
  FuzzBits
  FuzzDatagram
  FuzzBody
  FuzzOracle
  FuzzRoundTrip
  FuzzReceiver
  FuzzSender
  FuzzConversation
  FuzzTransport
  FuzzVectors
  FuzzPort
)
for target in "${targets[@]}"; do
  compile_native_go_fuzzer_v2 github.com/chunkwire/chunkwire/fuzz "$target" "$target"
done

# f.Add is ignored here. Without cgo, since the flags of C are those of the fuzzers.
CGO_ENABLED=0 go run ./fuzz/seeds -out "$OUT" -zip

for target in FuzzPort FuzzVectors; do
  cp .clusterfuzzlite/json.dict "$OUT/$target.dict"
done
