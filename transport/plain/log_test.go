package plain_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/internal/logtest"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport/plain"
)

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
			for range 10 {
				junk.WriteTo(make([]byte, 100), netsim.Addr("a"))
			}
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
