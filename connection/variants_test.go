package connection_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// offering returns the terms of an end that has some of the variants; 0 is both.
func offering(variants uint8) connection.Config {
	return connection.Config{Terms: session.Terms{Variants: variants}}
}

// Two ends have the higher variant that both know, and chunks go both ways in it, through loss;
// an end that says nothing knows both (RPI-3, CXP-3).
func TestTheVariantThatIsAgreed(t *testing.T) {
	for _, c := range []struct{ client, server, agreed uint8 }{
		{0, 0, session.VariantRepair},
		{3, 0, session.VariantRepair},
		{2, 3, session.VariantRepair},
		{0, 2, session.VariantRepair},
		{1, 0, session.VariantSlices},
		{0, 1, session.VariantSlices},
		{1, 1, session.VariantSlices},
	} {
		t.Run(fmt.Sprint(c.client, " and ", c.server), func(t *testing.T) {
			server := anyone
			server.Config = offering(c.server)
			n := newNetwork(t, 1, 1, server)
			n.loss = 10
			client, peer := n.open(0, connection.ClientConfig{Config: offering(c.client)})
			ends := [2]*connection.Conn{client.Conn(), peer.Conn}
			for i, end := range ends {
				check.Equal(t, "variant", end.Link().Agreed().Variant, c.agreed)
				check.Must(end.SendChunk(n.Now(), content(codec.MaxChunkSize, uint64(i))))
			}
			for i, end := range ends {
				n.until("a chunk is there", 10*second, func() bool { return end.ChunkSize() > 0 })
				chunk, _ := end.ReadChunk(n.Now(), nil)
				check.Bytes(t, "chunk", chunk, content(codec.MaxChunkSize, uint64(1-i)))
				st := end.Stats().Chunks.Sender
				check.That(t, st.SlicesRepair > 0 == (c.agreed == session.VariantRepair), "repair slices go")
				check.That(t, st.SlicesResent > 0 == (c.agreed == session.VariantSlices), "or slices go again")
			}
		})
	}
}

// Ends that have none in common are no connection if they want chunks.
func TestNoVariantInCommon(t *testing.T) {
	server := anyone
	server.Config = offering(session.VariantSlices)
	n := newNetwork(t, 1, 1, server)
	c := n.link(0, connection.ClientConfig{Config: offering(session.VariantRepair)})
	n.until("it is refused", 10*second, func() bool { return c.State() == session.Closed })
	check.That(t, errors.Is(c.Err(), &session.RefusedError{Reason: session.NoCommonVariant}), fmt.Sprint(c.Err()))

	cfg := offering(session.VariantRepair)
	cfg.Lanes = connection.NoLanes
	c, _ = n.open(0, connection.ClientConfig{Config: cfg})
	check.Equal(t, "variant", c.Conn().Link().Agreed().Variant, 0)
}

// A variant that nobody has is no configuration.
func TestVariantsThatThereAre(t *testing.T) {
	for variants := range 8 {
		_, err := offering(uint8(variants)).Complete()
		check.Equal(t, fmt.Sprint(variants), errors.Is(err, core.ErrConfig), variants > 3)
	}
}
