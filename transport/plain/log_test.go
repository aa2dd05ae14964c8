package plain_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/logtest"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// What a log has of a connection of chunks alone, besides its chunks: its beginning and end at
// both ends, and datagrams that do not decode.
func TestLogOfConnections(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			var at [2]logtest.Text
			cfg := v.with(nil)
			logged := func(i int) plain.Config {
				cfg := cfg
				cfg.Log = at[i].Add
				return cfg
			}
			w := &world{t: t, net: netsim.NewNetwork(1)}
			_, w.a = w.open("a", logged(0))
			_, w.b = w.open("b", logged(1))
			w.toB = w.dial(w.a, "b")
			mustSend(t, w.toB, content(10, 1))
			junk, err := w.net.Listen("junk")
			if err != nil {
				t.Fatal(err)
			}
			junk.WriteTo(make([]byte, 100), netsim.Addr("b"))
			time.Sleep(time.Second)
			w.toB.Close()
			w.b.Close()
			for i, want := range [][]string{
				{"client 1 connection_started role=client remote=b", "client 1 connection_ended why=closed"},
				{"server 1 connection_started role=server remote=a", "server datagram_refused code=crc_mismatch sentence=DEC-2 size=100", "server 1 connection_ended why=closed"},
			} {
				var got []string
				for _, line := range at[i].Lines {
					_, line, _ = strings.Cut(line, " ")
					if strings.Contains(line, "connection_") || strings.Contains(line, "refused") {
						got = append(got, line)
					}
				}
				if !slices.EqualFunc(got, want, strings.HasPrefix) {
					t.Errorf("%q", got)
				}
			}
		})
	})
}

func TestLogger(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		bubble(t, func(t *testing.T) {
			r := &logtest.Records{}
			cfg := v.with(func(cfg *plain.Config) { cfg.GiveUp = time.Second })
			logged := cfg
			logged.Logger = r.Logger()
			w := connectEnds(t, short, logged, cfg)
			if first := r.Take(); len(first) != 2 || first[1] != "INFO connection begun remote=b" { // the first is of the buffers
				t.Errorf("%q", first)
			}
			junk, err := w.net.Listen("junk")
			if err != nil {
				t.Fatal(err)
			}
			junk.WriteTo(make([]byte, 100), netsim.Addr("a"))
			time.Sleep(time.Second)
			r.Want(t, "garbage", "WARN datagram refused remote=junk code=crc_mismatch count=1")
			w.net.SetPath("a", "b", outage)
			if err := w.toB.Send(background, []byte("lost")); err == nil {
				t.Fatal("it arrived")
			}
			r.Want(t, "nobody answers", "WARN connection ended remote=b why=gave_up error="+w.toB.Err().Error())
			again, err := w.a.Dial(netsim.Addr("b"))
			if err != nil {
				t.Fatal(err)
			}
			again.Close()
			r.Want(t, "closed", "INFO connection begun remote=b", "INFO connection ended remote=b why=closed error="+again.Err().Error())
		})
	})
}
