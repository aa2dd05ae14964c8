package inspect

import (
	"fmt"

	"github.com/chunkwire/chunkwire/packet"
)

func packetSummary(p *packet.Packet) string {
	if p.NumFragments > 0 {
		return fmt.Sprintf("packet %d, fragment %d of %d, %s", p.Sequence, p.FragmentID, p.NumFragments, count(len(p.Data), "byte"))
	}
	return fmt.Sprintf("packet %d, %s", p.Sequence, count(len(p.Data), "byte"))
}
