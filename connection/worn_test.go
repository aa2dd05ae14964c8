package connection_test

import (
	"errors"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// A connection whose keys have had their time closes, and says why (CXE-10 to CXE-12): by the datagrams
// that it has sealed, by the tags that were wrong, or after a day.
func TestKeysHaveAnEnd(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  session.LinkConfig
		worn bool
	}{
		"two are left":       {session.LinkConfig{Mode: session.AEAD, Next: session.KeyLife - 2}, false},
		"none is left":       {session.LinkConfig{Mode: session.AEAD, Next: session.KeyLife}, true},
		"one tag is left":    {session.LinkConfig{Mode: session.AEAD, Failed: session.FailedAEAD - 1}, false},
		"too many tags":      {session.LinkConfig{Mode: session.AEAD, Failed: session.FailedAEAD}, true},
		"too many, with mac": {session.LinkConfig{Mode: session.MAC, Failed: session.FailedMAC}, true},
		"crc has no secret":  {session.LinkConfig{Mode: session.CRC, Failed: session.FailedAEAD}, false},
	} {
		c.cfg.Agreed = session.Agreed{Link: 7, Timeout: session.DefaultTimeout}
		conn, err := connection.NewConn(connection.Config{}, session.NewLink(c.cfg), connection.ClientSide, 0)
		check.Same(t, "error", err, nil)
		_, ok := conn.Poll(0, nil)
		check.That(t, ok, "it sends something")
		for ok {
			_, ok = conn.Poll(1, nil)
		}
		check.Equal(t, name, []bool{errors.Is(conn.Err(), connection.ErrWorn), conn.State() == connection.Closing}, []bool{c.worn, c.worn})
	}
}

// Tags that are wrong are counted up to the last (CXE-11).
func TestWrongTagsWearKeysOut(t *testing.T) {
	agreed := session.Agreed{Link: 7, Timeout: session.DefaultTimeout}
	peer := session.NewLink(session.LinkConfig{Mode: session.AEAD, Agreed: agreed})
	l := session.NewLink(session.LinkConfig{Mode: session.AEAD, Agreed: agreed, Failed: session.FailedAEAD - 1})
	forged := peer.Seal(nil, []byte("x"))
	forged[len(forged)-1]++
	check.That(t, !l.Worn(), "one is left")
	_, err := l.Open(nil, forged)
	check.That(t, errors.Is(err, session.ErrTag) && l.Worn(), "none is left")
}

// Keys are used for a day, however little is sent. The other end is told, and an end with nothing to protect
// goes on (CXE-12).
func TestKeysLastADay(t *testing.T) {
	for _, mode := range []session.Mode{session.CRC, session.MAC, session.AEAD} {
		a, b := pairOf(mode, plenty, connection.Config{}, connection.Config{})
		now := core.Micros(0)
		for ; now < session.KeyTime; now += second {
			exchange(a, b, now)
		}
		check.Equal(t, "before its end", []connection.State{a.State(), b.State()}, []connection.State{connection.Open, connection.Open})
		now = session.KeyTime
		give(b, now, poll(a, now)...)
		var told *connection.ClosedError
		worn := errors.As(b.Err(), &told) && told.Code == connection.CodeWorn
		check.Equal(t, mode.String(), []bool{errors.Is(a.Err(), connection.ErrWorn), worn}, []bool{mode != session.CRC, mode != session.CRC})
	}
}
