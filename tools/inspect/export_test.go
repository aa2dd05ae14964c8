package inspect

import "github.com/chunkwire/chunkwire/connection/session"

// Link makes known a connection whose handshake was not inspected. Both ends have the same key.
func (in *Inspector) Link(id uint32, mode session.Mode, key session.Key) {
	l := &link{agreed: session.Agreed{Link: id, Lanes: 2, Variant: session.VariantSlices}, mode: mode}
	l.open[0] = session.NewLink(session.LinkConfig{Mode: mode, Agreed: l.agreed, Open: key})
	in.links[id] = l
}
