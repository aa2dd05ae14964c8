package statemachine

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// A Read without a buffer makes one, of the chunk's size, and not by doubling.
func TestAReadMakesRoomOnce(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	give(r, slicesOf(0, chunkOf(codec.MaxChunkSize, 1))...)
	got, _ := r.Read(0, nil)
	wantEqual(t, "room", cap(got), codec.MaxChunkSize)
}
