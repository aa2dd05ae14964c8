package fuzz

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"github.com/chunkwire/chunkwire/testvectors"
)

// Seeds returns the inputs from which a target's fuzzing begins: the project's
// test vectors, in the target's own format, and a few of its own. Of slow targets
// there are fewer. The order is always the same, and none is there twice. It
// panics if there is no such target.
//
// They are made once, since some engines call a FuzzXxx for every execution. They
// must not be changed.
func Seeds(target string) [][]byte {
	made.Lock()
	defer made.Unlock()
	if made.seeds[target] == nil {
		made.seeds[target] = makeSeeds(target)
	}
	return made.seeds[target]
}

var made = struct {
	sync.Mutex
	seeds map[string][][]byte
}{seeds: map[string][][]byte{}}

func makeSeeds(target string) [][]byte {
	seeds := map[string]func([]testvectors.File) [][]byte{
		"FuzzBits": seedBits, "FuzzDatagram": seedDatagrams, "FuzzBody": seedBodies, "FuzzOracle": seedOracle,
		"FuzzRoundTrip": seedRoundTrips, "FuzzReceiver": seedReceivers, "FuzzSender": seedSenders,
		"FuzzConversation": seedConversations, "FuzzTransport": seedTransports,
		"FuzzVectors": seedVectors, "FuzzPort": seedPort,
	}[target]
	files, err := testvectors.Load()
	if err != nil || seeds == nil {
		panic(fmt.Sprintf("fuzz: no seeds for %s: %v", target, err))
	}
	return distinct(seeds(files))
}

func distinct(list [][]byte) (out [][]byte) {
	seen := map[string]bool{}
	for _, seed := range list {
		if !seen[string(seed)] {
			seen[string(seed)] = true
			out = append(out, seed)
		}
	}
	return out
}

// request is what seeds need of a vector's request.
type request struct {
	Op         string              `json:"op"`
	ProtocolID uint32              `json:"protocol_id"`
	Type       string              `json:"type"`
	Hex        string              `json:"hex"`
	Packet     requestPacket       `json:"packet"`
	Config     requestConfig       `json:"config"`
	Events     []testvectors.Event `json:"events"`
}

type requestPacket struct {
	Type      string `json:"type"`
	ChunkID   int    `json:"chunk_id"`
	SliceID   int    `json:"slice_id"`
	NumSlices int    `json:"num_slices"`
	Data      string `json:"data"`
	Acked     string `json:"acked"`
}

type requestConfig struct {
	FirstChunkID uint16               `json:"first_chunk_id"`
	GiveUpUS     int64                `json:"give_up_us"`
	Profile      *testvectors.Profile `json:"profile"`
}

// requests returns the requests of all vectors with one of some ops. Those that
// are malformed on purpose are left out: they are seeds of FuzzPort.
func requests(files []testvectors.File, ops ...string) (list []request) {
	for _, f := range files {
		for _, v := range f.Vectors {
			var q request
			if json.Unmarshal(v.Request, &q) == nil && slices.Contains(ops, q.Op) {
				list = append(list, q)
			}
		}
	}
	return list
}

// bytesOf reads hex; what is none gives nothing.
func bytesOf(text string) []byte {
	b, _ := hex.DecodeString(text)
	return b
}

func seedVectors(files []testvectors.File) (seeds [][]byte) {
	for _, f := range files { // the first vectors of each file, under the name that the target wants
		kept := testvectors.File{Format: f.Format, Group: vectorGroup, Description: f.Description, License: f.License, Flags: map[string]testvectors.Flag{}}
		for _, v := range f.Vectors[:min(3, len(f.Vectors))] {
			v.Name = vectorGroup + v.Name[len(f.Group):]
			if len(v.Request) > 2000 || len(v.Response) > 2000 {
				continue
			}
			kept.Vectors = append(kept.Vectors, v)
			for _, flag := range v.Flags {
				kept.Flags[flag] = f.Flags[flag]
			}
		}
		if text, err := json.Marshal(kept); err == nil {
			seeds = append(seeds, text)
		}
	}
	seeds = append(seeds, spoiled(seeds[0])...)
	return append(seeds, nil, []byte("{}"), []byte("null"), []byte("[]"))
}

// spoiled are files that differ from a good one in what the loader refuses.
func spoiled(good []byte) [][]byte {
	var f testvectors.File
	json.Unmarshal(good, &f)
	f.Vectors = append(f.Vectors, f.Vectors[0]) // a name that is taken
	twice, _ := json.Marshal(f)
	unknown := append([]byte(`{"unknown":1,`), good[1:]...)
	return [][]byte{twice, unknown, append(slices.Clone(good), "{}"...), good[:len(good)/2]}
}

// longestPortSeed keeps the replay of FuzzPort short: longer traces are left out.
const longestPortSeed = 6000

func seedPort(files []testvectors.File) (seeds [][]byte) {
	for _, f := range files {
		for _, v := range f.Vectors {
			line := append([]byte(`{"id":1,`), v.Request[1:]...)
			if string(v.Request) == "{}" {
				line = []byte(`{"id":1}`)
			}
			var q fields
			if json.Unmarshal(line, &q) != nil || len(line) > longestPortSeed {
				continue
			}
			seeds = append(seeds, compact(line))
		}
	}
	return append(seeds, nil, []byte("\n"), []byte("{}\n{}"), []byte(`{"id":99999999999999999999,"op":"fly"}`+"\n"))
}

// compact writes JSON on one line.
func compact(text []byte) []byte {
	b, _ := json.Marshal(json.RawMessage(text))
	return append(b, '\n')
}
