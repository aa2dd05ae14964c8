package fuzz

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/testvectors"
	"pgregory.net/rapid"
)

// Seeds are always the same, each once, and drawing one finds nothing wrong and
// changes nothing.
func TestSeeds(t *testing.T) {
	for _, target := range Targets() {
		seeds := Seeds(target.Name)
		if len(seeds) < 16 || !slices.EqualFunc(seeds, makeSeeds(target.Name), bytes.Equal) {
			t.Errorf("%s has %d seeds, or not always the same", target.Name, len(seeds))
		}
		for i := 0; i < len(seeds); i += 1 + len(seeds)/12 {
			kept := bytes.Clone(seeds[i])
			if err := target.Draw(io.Discard, seeds[i]); err != nil {
				t.Errorf("%s, seed %d: %v", target.Name, i, err)
			}
			if !bytes.Equal(kept, seeds[i]) {
				t.Errorf("%s changed seed %d", target.Name, i)
			}
		}
	}
}

func TestSeedsOfNothing(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("there are seeds for a target that is not there")
		}
	}()
	Seeds("FuzzNothing")
}

// The seeds of machines take every row of their tables.
func TestSeedsTakeAllRows(t *testing.T) {
	taken := map[statemachine.Row]bool{}
	s := &story{w: io.Discard, row: func(r statemachine.Row) { taken[r] = true }}
	for _, name := range []string{"FuzzReceiver", "FuzzSender"} {
		target, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, seed := range Seeds(name) {
			target.tell(s, seed)
		}
	}
	for _, row := range statemachine.ReceiverTable() {
		if !taken[row.Row] {
			t.Errorf("no seed takes %v", row.Row)
		}
	}
	for _, row := range statemachine.SenderTable() {
		if !taken[row.Row] {
			t.Errorf("no seed takes %v", row.Row)
		}
	}
}

// What seeds are made with is the inverse of what targets read.
func TestInverses(t *testing.T) {
	files, err := testvectors.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range requests(files, "encode_packet", "encode_body") {
		want, s := q.Packet.packet(), script{q.Packet.script()}
		got := readPacket(&s)
		if want.Slice.NumSlices>>15 != 0 || want.Slice.SliceID>>15 != 0 || len(want.Slice.Data) >= 1300 {
			continue // beyond what the format holds
		}
		if !samePacket(got, want) {
			t.Errorf("%s is read as %s", describe(want), describe(got))
		}
	}
	for _, size := range []int{1, 3, 1023, 1024, 1025, 6144, 6145, 36 * 1024, 255 * 1024, codec.MaxChunkSize} {
		s := script{sizeBytes(size)}
		if got := readSize(&s); codec.NumSlices(got) != codec.NumSlices(size) {
			t.Errorf("%d bytes are read as %d", size, got)
		}
	}
	p := statemachine.Profile{Name: "any", Rate: 5000, Cap: 70000, Burst: 3000, AckPays: true, Spacing: 77, ResendDelay: 88}
	s := script{profileBytes(5000, 70000, 3000, true, 77, 88)}
	if got := readPacing(&s, func(*statemachine.Profile) {}).envelope; got != p {
		t.Errorf("%+v is read as %+v", p, got)
	}
}

func TestParseInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		got, err := ParseInput(FormatInput(data))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%x is read as %x, %v", data, got, err)
		}
	})
	for _, bad := range []string{"go test fuzz v1\nint(1)\n", "go test fuzz v1\n[]byte(1)\n", "go test fuzz v1\n"} {
		if _, err := ParseInput([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
	if raw, err := ParseInput([]byte("raw\nbytes")); err != nil || string(raw) != "raw\nbytes" {
		t.Errorf("raw: %q, %v", raw, err)
	}
}
