package inspect

import (
	"net/netip"

	"github.com/chunkwire/chunkwire/connection/session"
)

// Link makes known a connection whose handshake was not inspected. Both ends have the same key.
func (in *Inspector) Link(client netip.AddrPort, id uint32, mode session.Mode, key session.Key) {
	in.links[id] = &link{agreed: session.Agreed{Link: id, Lanes: 2, Variant: session.VariantSlices}, mode: mode,
		keys: &[2]session.Key{key, key}, ways: map[way]*[2]*session.Link{}, asked: map[netip.AddrPort]bool{client: true}}
}
