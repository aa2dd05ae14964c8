package formats_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os/exec"
	"reflect"
	"testing"

	"github.com/chunkwire/chunkwire/conform/formats"
	"github.com/chunkwire/chunkwire/conform/layout"
)

var proved = flag.Int("proved", 300, "how many datagrams of each format are put to the proved layouts, besides the vectors")

// What is proved of the layouts is proved of a program (spec/proofs/formats). It says of bytes what the
// packages say: the values, or the code, the sentence and the place of the refusal; and what it encodes are
// the bytes. Those are of the vectors, and mutated.
func TestProvedLayouts(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	oracle := exec.Command(python, "answer.py")
	oracle.Dir = "../../spec/proofs/formats"
	in, _ := oracle.StdinPipe()
	out, _ := oracle.StdoutPipe()
	if err := oracle.Start(); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	asked := make(chan sample, 1000)
	go func() {
		defer in.Close()
		defer close(asked)
		to := bufio.NewWriter(in)
		defer to.Flush()
		for s := range questions(samples(t), rand.New(rand.NewPCG(seed, 0)), *proved) {
			if !put(to, s) {
				return
			}
			asked <- s
			if len(asked) == 1 { // it waits
				to.Flush()
			}
		}
	}()
	count := map[string]int{}
	for from := bufio.NewScanner(out); from.Scan(); {
		s := <-asked
		count[s.name]++
		if want, got := said(s), from.Bytes(); !bytes.Equal(got, want) && !same(t, got, want) {
			t.Fatalf("%s %v %x: proved: %s; the package: %s (seed %d)", s.name, s.in, s.bytes, got, want, seed)
		}
	}
	if err := oracle.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(count) != len(decodings)+1 {
		t.Errorf("formats: %v", count)
	}
	t.Log(count)
}

// questions are the bytes of vectors, and for each format so many that differ from them in some bits, in
// their size, or in their parameters.
func questions(all []sample, r *rand.Rand, mutated int) func(yield func(sample) bool) {
	of := map[string][]sample{}
	for _, s := range all {
		of[s.name] = append(of[s.name], s)
	}
	return func(yield func(sample) bool) {
		for _, s := range all {
			if !yield(s) {
				return
			}
		}
		for range mutated {
			for _, list := range of {
				s := list[r.IntN(len(list))]
				s.bytes = mutate(append([]byte(nil), s.bytes...), r)
				if r.IntN(2) == 0 {
					s.in = small(s.in)
				}
				if r.IntN(4) > 0 {
					layout.Reseal(s.name, s.bytes, s.in)
				}
				if !yield(s) {
					return
				}
			}
		}
	}
}

func mutate(b []byte, r *rand.Rand) []byte {
	for range r.IntN(4) {
		switch n := r.IntN(8); {
		case n == 0:
			b = b[:r.IntN(len(b)+1)]
		case n == 1:
			b = append(b, byte(r.Uint32()))
		case len(b) > 0 && n < 5: // near the head, where the fields are
			b[r.IntN(min(len(b), 12))] ^= 1 << r.IntN(8)
		case len(b) > 0:
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
	}
	return b
}

func put(to *bufio.Writer, s sample) bool {
	given := layout.Values{}
	if s.name == "chunk-body" || s.name == "repair-body" {
		given = s.given
	}
	return json.NewEncoder(to).Encode(map[string]any{"layout": s.name, "hex": hex.EncodeToString(s.bytes), "parameters": s.in, "given": given}) == nil
}

// said is the answer of the package, as JSON with its keys in order.
func said(s sample) []byte {
	v, err := formats.All[s.name].Decode(s.bytes, s.in, s.given)
	if f := formats.FaultOf(err); f != nil {
		if _, refused := layout.Decode(s.name, s.bytes, s.in, s.given); refused != nil && refused.Check == "PKD-14" {
			f.Check = "PKD-14" // PKD-10 has its steps
		}
		return asJSON(map[string]any{"code": f.Code, "check": f.Check, "at": f.At})
	}
	as := map[string]string{"chunk-body": "chunk-datagram", "repair-body": "repair-datagram"}[s.name]
	if as == "" {
		as = s.name
	}
	return asJSON(map[string]any{"values": layout.JSON(as, v, s.in)})
}

func asJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// same compares what differs as text: other letters than ASCII have two spellings.
func same(t *testing.T, got, want []byte) bool {
	var is, said any
	if err := errors.Join(json.Unmarshal(got, &is), json.Unmarshal(want, &said)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(is, said)
}
