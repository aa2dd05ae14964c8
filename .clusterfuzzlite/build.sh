#!/bin/bash -eu
# Builds every fuzz target for libFuzzer, in the container of ClusterFuzzLite and in
# that of OSS-Fuzz, which sets SRC and OUT. A fuzzer has its target's name.
cd "$SRC/chunkwire"

# Without cgo, since the flags of C are those of the fuzzers.
CGO_ENABLED=0 go build -o /tmp/seeds ./fuzz/seeds

# The tools look for the file that has a target's name in it, and a name may be the
# beginning of another: only that target's file is there while it is built.
/tmp/seeds -list >/tmp/targets
mkdir -p /tmp/others
while read -r target; do
  own=${target#Fuzz}
  own=fuzz/${own,,}_test.go
  mv fuzz/*_test.go /tmp/others
  cp "/tmp/others/${own#fuzz/}" "$own"
  compile_native_go_fuzzer_v2 github.com/chunkwire/chunkwire/fuzz "$target" "$target"
  mv /tmp/others/*_test.go fuzz
done </tmp/targets

# f.Add is ignored here.
/tmp/seeds -out "$OUT"

# The words of requests and responses.
grep -oE '"[a-z0-9_]+"' testvectors/schema.json | sort -u | sed -E 's/"(.*)"/"\\"\1\\""/' >"$OUT/FuzzPort.dict"
