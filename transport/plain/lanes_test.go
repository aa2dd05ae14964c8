package plain_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// Chunk i goes by lane i mod L, with the lane's own protocol id and chunk ids
// (LAN-2, LAN-3, LAN-4).
func TestChunksTakeTheLanesInTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const n, chunks = 3, 10
		r := connect(t, netsim.Path{Delay: 10 * ms, Loss: 10}, lanes(n))
		stream(t, r.toB, r.toA, chunks, func(i int) int { return 3000 + i })
		last := map[int]int{} // by the length of the last slice, which differs from chunk to chunk
		for _, p := range r.tapA.Seen() {
			if s := p.Slice; p.Type == codec.TypeSlice && s.SliceID == s.NumSlices-1 {
				i := len(s.Data) - 3000 + 2*codec.SliceSize
				last[i]++
				if p.Lane != i%n || int(s.ChunkID) != i/n {
					t.Errorf("chunk %d goes by lane %d with id %d", i, p.Lane, s.ChunkID)
				}
			}
		}
		if len(last) != chunks {
			t.Errorf("%d chunks were seen, want %d", len(last), chunks)
		}
		if len(r.tapA.Raw) != len(r.tapA.Log) || len(r.tapB.Raw) != len(r.tapB.Log) {
			t.Errorf("datagrams under other protocol ids")
		}
	})
}

// One lane is the protocol without lanes, byte for byte (LAN-1).
func TestOneLaneIsNone(t *testing.T) {
	var runs [2][][]byte
	for n := range runs {
		bubble(t, func(t *testing.T) {
			r := connect(t, netsim.Path{Delay: 20 * ms}, lanes(n))
			for i := range 3 {
				mustSend(t, r.toB, content(70_000, uint64(i)))
				mustRecv(t, r.toA, content(70_000, uint64(i)))
			}
			for _, datagram := range r.tapA.Raw {
				if _, err := framer.Decode(datagram); err != nil {
					t.Fatalf("a datagram under another protocol id: %v", err)
				}
			}
			runs[n] = r.tapA.Raw
		})
	}
	if !slices.EqualFunc(runs[0], runs[1], bytes.Equal) {
		t.Error("one lane and none send other datagrams")
	}
}

// A lane that fails ends the connection: what came before it can be received,
// what came after it cannot (LAN-6).
func TestALaneThatFailsEndsTheConnection(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			cfg := v.lanes(3, func(cfg *plain.Config) { cfg.IdleTimeout = 30 * time.Second })
			r := connect(t, short, cfg)
			r.tapA.DropIf(func(p packet) bool { return p.Lane == 1 && p.SliceID() > 0 })
			all := enqueue(t, r.toB, content(5000, 0), content(5000, 1), content(5000, 2), content(5000, 3), content(5000, 4), content(5000, 5))
			for i, want := range []error{nil, plain.ErrGaveUp, nil, nil, plain.ErrGaveUp} {
				wantErr(t, fmt.Sprintf("delivery %d", i), all[i].Wait(background), want)
			}
			wantErr(t, "the sending end", r.toB.Err(), plain.ErrGaveUp)
			<-r.toA.Done()
			wantErr(t, "the receiving end", r.toA.Err(), plain.ErrGaveUp)
			for _, err := range []error{r.toB.Err(), r.toA.Err()} {
				if !strings.Contains(err.Error(), "lane 1: ") {
					t.Errorf("%q does not name the lane", err)
				}
			}
			mustRecv(t, r.toA, content(5000, 0))
			_, err := r.toA.Recv(background)
			wantErr(t, "Recv", err, plain.ErrGaveUp)
		})
	})
}

// Ends that do not agree on the number of lanes understand nothing of each other:
// nothing is delivered, nothing answered, and the sender gives up (LAN-1, LAN-2).
func TestEndsThatDifferInLanes(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		for _, n := range [][2]int{{1, 2}, {2, 1}, {4, 8}, {16, 15}} {
			bubble(t, func(t *testing.T) {
				r := connectEnds(t, short, v.lanes(n[0]), v.lanes(n[1]))
				start := time.Now()
				err := r.toB.Send(background, content(5000, 1))
				wantErr(t, "Send", err, plain.ErrGaveUp)
				if names := strings.Contains(err.Error(), "lane 0: "); names != (n[0] > 1) {
					t.Errorf("with %d lanes the error is %q", n[0], err)
				}
				wantTook(t, "giving up", start, 10*time.Second, 11*time.Second)
				wantNothing(t, r.toA)
				if st := r.b.Stats(); st.Undecodable == 0 || st.Undecodable != st.DatagramsIn || st.DatagramsOut != 0 {
					t.Errorf("%v lanes: %d of %d datagrams were garbage, and %d were answered", n, st.Undecodable, st.DatagramsIn, st.DatagramsOut)
				}
			})
		}
	})
}

// So do ends of different variants (RPI-1).
func TestEndsThatDifferInTheirVariant(t *testing.T) {
	for _, n := range []int{1, 3} {
		each(t, func(t *testing.T, v variant) {
			bubble(t, func(t *testing.T) {
				r := connectEnds(t, short, v.lanes(n), variant{!v.repair}.lanes(n))
				wantErr(t, "Send", r.toB.Send(background, content(5000, 1)), plain.ErrGaveUp)
				wantNothing(t, r.toA)
				if st := r.b.Stats(); st.Undecodable == 0 || st.Undecodable != st.DatagramsIn || st.DatagramsOut != 0 {
					t.Errorf("%d of %d datagrams were garbage, and %d were answered", st.Undecodable, st.DatagramsIn, st.DatagramsOut)
				}
			})
		})
	}
}

// A first chunk on any lane begins a connection; nothing else does (LAN-11, SEC-2,
// SEC-3).
func TestAnyLaneBeginsAConnection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const n = 4
		net := netsim.NewNetwork(1)
		pc, _ := net.Listen("server")
		e, err := plain.New(pc, lanes(n, func(cfg *plain.Config) { cfg.MaxPeers = 1 }))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		slice := func(from netsim.Addr, lane int, chunkID uint16) {
			client, err := net.Listen(from)
			if err != nil {
				t.Fatal(err)
			}
			datagram, _ := laneFramer(lane, n).AppendSlice(nil, codec.Slice{ChunkID: chunkID, NumSlices: 2, Data: make([]byte, 1024)})
			client.WriteTo(datagram, netsim.Addr("server"))
			time.Sleep(time.Second)
		}
		slice("x", 2, 1)
		if st := e.Stats(); st.UnknownPeers != 1 || st.Peers != 0 {
			t.Errorf("after another chunk than the first: %+v", st)
		}
		slice("y", 2, 0)
		c, err := e.Accept(background)
		if err != nil || c.RemoteAddr().String() != "y" {
			t.Fatalf("Accept: %v", err)
		}
		if got := c.Stats().Receiver.SlicesStored; got != 1 {
			t.Errorf("%d slices stored, want 1", got)
		}
		slice("z", 0, 0)
		if st := e.Stats(); st.Peers != 1 || st.Full != 1 {
			t.Errorf("beyond MaxPeers: %+v", st)
		}
	})
}

// What no lane's protocol id makes right is garbage (LAN-3).
func TestGarbageAmongLanes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const n = 4
		r := connect(t, short, lanes(n))
		garbage := [][]byte{{}, {1, 2, 3}, content(1038, 1), content(2000, 1)}
		for _, f := range []codec.Framer{laneFramer(0, 1), laneFramer(0, n+1), codec.NewFramer(protocolID + 16*(n-1) + n)} {
			datagram, _ := f.AppendSlice(nil, codec.Slice{NumSlices: 1, Data: []byte("x")})
			garbage = append(garbage, datagram)
		}
		for k := range n { // the crc is right, and the padding is not
			datagram, _ := laneFramer(k, n).AppendAck(nil, codec.Ack{NumSlices: 1})
			datagram[7] |= 0x80
			garbage = append(garbage, withCRC(datagram, uint32(protocolID+16*(n-1)+k)))
		}
		for _, datagram := range garbage {
			r.tapA.PacketConn.WriteTo(datagram, netsim.Addr("b"))
		}
		stream(t, r.toB, r.toA, 9, func(i int) int { return 2000 * (i + 1) })
		if got := r.b.Stats().Undecodable; got != int64(len(garbage)) {
			t.Errorf("%d datagrams were garbage, want %d", got, len(garbage))
		}
	})
}

// withCRC makes the crc of a datagram right (FRM-2).
func withCRC(datagram []byte, id uint32) []byte {
	head := binary.LittleEndian.AppendUint64(nil, uint64(id))
	crc := crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, datagram[4:])
	binary.LittleEndian.PutUint32(datagram, crc)
	return datagram
}

func TestLanesConfig(t *testing.T) {
	bubble(t, func(t *testing.T) {
		pc, _ := netsim.NewNetwork(1).Listen("a")
		for _, n := range []int{-1, plain.MaxLanes + 1} {
			_, err := plain.New(pc, lanes(n))
			wantErr(t, fmt.Sprint(n, " lanes"), err, core.ErrConfig)
		}
		pc.Close()
		made := 0
		count := func(cfg *plain.Config) {
			cfg.NewScheduler = func() (statemachine.Scheduler, error) { made++; return base.New(base.Burst()) }
		}
		r := connectEnds(t, short, lanes(5, count), lanes(5))
		if made != 2 { // New makes one, to see whether it can
			t.Errorf("%d schedulers before a chunk", made)
		}
		stream(t, r.toB, r.toA, 20, func(int) int { return 40_000 })
		if made != 1+5 {
			t.Errorf("%d schedulers for 5 lanes", made)
		}
		if st := r.toB.Stats(); st.Sender.Chunks != 20 || st.Sender.ChunkBytes != 20*40_000 || st.Sender.Schedule.MinRTT < 20_000 {
			t.Errorf("the sum of all lanes: %+v", st.Sender)
		}
		if st := r.toA.Stats(); st.Receiver.Chunks != 20 || st.Receiver.SlicesStored != 20*40 {
			t.Errorf("the sum of all lanes: %+v", st.Receiver)
		}
	})
}
