package transport_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/netsim"
)

// An error says what is wrong and what to do in words of Config; the sentence of the specification is behind %+v.
func TestErrorsInWords(t *testing.T) {
	bubble(t, short, withLatest, func(w *world) {
		a, _ := w.connect("a", withLatest)
		err := a.Channel(1).Send(nil)
		if err.Error() != "transport: channel 1 takes messages of 1 to 65536 bytes, this one has 0" || !strings.Contains(fmt.Sprintf("%+v", err), "(D1)") {
			t.Errorf("%+v", err)
		}
	})
}

// What was under way when a client said goodbye is no warning (U11).
func TestAGoodbyeIsNoWarning(t *testing.T) {
	bubble(t, netsim.Path{Delay: 25 * ms, Reorder: 30}, withLatest, func(w *world) {
		for range 10 {
			a, atA := w.connect("a", withLatest)
			for range 40 {
				_ = a.Channel(0).Send([]byte("position"))
				a.SendNow()
				time.Sleep(5 * ms)
			}
			go a.Close(0, "bye")
			time.Sleep(10 * ms)
			_ = atA.Close(0, "at once")
			time.Sleep(2 * time.Second)
		}
		st := w.server.Stats()
		if st.Undecodable[session.CodeUnknownLink] > 0 || st.Undecodable[session.CodeEndedLink] == 0 {
			t.Errorf("refused: %v", st.Undecodable)
		}
	})
}
