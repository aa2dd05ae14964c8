//go:build linux

package main

import (
	"math/rand/v2"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/transport/plain"
)

const protocolID = 0x6d616e79

var (
	framer       = codec.NewFramer(protocolID)
	repairFramer = codec.Repair.Framer(protocolID + connection.RepairIDs)
)

// makeWorld returns the 256 KiB that everybody fetches.
func makeWorld() []byte {
	world := make([]byte, codec.MaxChunkSize)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(world)
	return world
}

// patience is longer than any experiment: on a busy machine nothing is to give up.
const patience = 2 * time.Minute

func config(t task) plain.Config {
	return plain.Config{
		ProtocolID: protocolID, MaxPeers: t.Conns, GiveUp: patience,
		SocketBuffer: 4 << 20, Repair: paces[t.Pace].repair, NewScheduler: paces[t.Pace].scheduler,
	}
}
