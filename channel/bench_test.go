package channel

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// Results go here, so that the compiler keeps the work.
var (
	sinkRecord Record
	sinkOK     bool
	sinkErr    error
	sinkTime   core.Micros
)

// What a message costs from Send to Read at the other end, with its part of payloads, reports and
// releases, both ends together: messages of up to 40 kB in a frame.
func BenchmarkMessage(b *testing.B) {
	for _, kind := range []Kind{Ordered, Unordered, Unreliable} {
		for _, size := range []int{64, 1000, 16000} {
			for _, lose := range []int{0, 20} {
				b.Run(fmt.Sprint(kind, ", ", size, " bytes, every ", lose, ". payload lost"), func(b *testing.B) {
					x := newExchange(lose, Config{ID: 1, Kind: kind})
					message, frame := bytes.Repeat([]byte{7}, size), min(16, 40_000/size)
					b.SetBytes(int64(size))
					b.ReportAllocs()
					for i := range b.N {
						if err := x.ends[0].Send(x.now, 1, message, 0); err != nil {
							b.Fatal(err)
						}
						if i%frame == frame-1 {
							x.frame()
						}
					}
				})
			}
		}
	}
}

// A report of a window of which 1,000 sequences are missing, every second one: it names the lowest
// 544. To make it; to take it, and to send again what it names.
func BenchmarkReportOf1000Missing(b *testing.B) {
	cfg := Config{Kind: Unordered, Format: Format{Window: 2048}}
	v := check.Must(NewReceiver(cfg))
	for n := 1; n < 2000; n += 2 {
		v.Handle(0, &Record{Type: TypeMessage, Sequence: uint16(n), Data: []byte{1}})
	}
	r, _ := v.Poll(0, LargestPayload)
	r.Groups = append([]Group(nil), r.Groups...)
	b.Run("make", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			v.reportAt = 0
			sinkRecord, sinkOK = v.Poll(0, LargestPayload)
		}
	})
	s := newTalker(b, cfg)
	for range 2000 {
		s.says("x")
	}
	s.goes()
	again := s.Stats().Resent
	b.Run("take and send again", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			s.now += holdUnmeasured
			s.Report(s.now, s.heard+1, s.number, &r)
			for ok := true; ok; {
				sinkRecord, ok = s.Poll(s.now, s.number, LargestPayload)
			}
		}
		if sent := s.Stats().Resent - again; sent != int64(b.N)*int64(len(named(r))) {
			b.Fatal("sent again: ", sent)
		}
		again = s.Stats().Resent
		b.ReportMetric(float64(len(named(r))), "records/op")
	})
}

// What 64 channels cost that have nothing to do, and that all have: the deadlines, and to compose.
func BenchmarkChannels(b *testing.B) {
	var channels []Config
	for id := range MaxChannels {
		channels = append(channels, Config{ID: uint8(id)})
	}
	for _, busy := range []int{0, 1, 64} {
		m := check.Must(NewMux(MuxConfig{Channels: channels}))
		for id := range busy {
			sinkErr = m.Send(0, uint8(id), []byte{1}, 0)
		}
		m.Compose(nil, 0, 0, LargestPayload)
		b.Run(fmt.Sprint(busy, " of 64 wait, deadline"), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				sinkTime = m.Deadline()
			}
		})
		b.Run(fmt.Sprint(busy, " of 64 wait, compose nothing"), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				m.Compose(nil, 0, 1, LargestPayload)
			}
		})
	}
}

func BenchmarkRecords(b *testing.B) {
	var missing []uint16
	for n := range 1000 {
		missing = append(missing, uint16(2*n))
	}
	for _, r := range []Record{
		{Type: TypeMessage, Data: make([]byte, 64)}, {Type: TypeFragment, Count: 64, Data: make([]byte, 1024)}, {Type: TypeStatus},
		NewReport(1, 0, 512, nil), NewReport(1, 0, 2048, missing),
	} {
		whole := check.Must(port.Append(nil, &r))
		b.Run(fmt.Sprint("decode ", r.Type, " of ", len(whole)), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				_, sinkErr = port.Decode(whole, 0, &sinkRecord)
			}
		})
		b.Run(fmt.Sprint("encode ", r.Type, " of ", len(whole)), func(b *testing.B) {
			b.ReportAllocs()
			dst := make([]byte, 0, 2048)
			for range b.N {
				_, sinkErr = port.Append(dst, &r)
			}
		})
	}
}
