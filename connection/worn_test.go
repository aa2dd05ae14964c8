package connection_test

import (
	"errors"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
)

// A connection whose keys have had their time closes, and says why (CXE-10, CXE-11): by the datagrams
// that it has sealed, or by the tags that were wrong.
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
