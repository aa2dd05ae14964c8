package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

// settle is how long bytes still count after the block has arrived: what a peer
// resends needlessly was sent because of the block, too.
const settle = time.Second

// patience is how long, in virtual time, a transfer may take.
const patience = 10 * time.Minute

var errCorrupt = errors.New("other bytes arrived than were sent")

// Run is one transfer.
type Run struct {
	Took  time.Duration // from the first push until the client has it all
	Bytes int64         // both ways, with headers
	Err   error
}

// Plan says what to transfer.
type Plan struct {
	Name string // for tables; empty means the cell's
	Cell Cell
	Size int // bytes of a block; 0 means 256 KiB
	Warm int // blocks that go before the one that counts
	// Trouble, when not nil, is called before the block that counts, and may
	// change the path, at once or by a timer.
	Trouble func(p *path)
}

func (p Plan) name() string {
	if p.Name == "" {
		return p.Cell.String()
	}
	return p.Name
}

// measure runs the plan once, in virtual time. The peers shake hands, and
// learn their round trip, on the cell without its faults.
func measure(t *testing.T, p Peer, plan Plan, seed uint64) (r Run) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		way := newPath(plan.Cell.quiet(), seed)
		defer way.close()
		conn, err := p.Connect(ctx, way)
		if err != nil {
			r.Err = fmt.Errorf("connecting: %w", err)
			return
		}
		defer conn.close()
		time.Sleep(settle)
		way.set(plan.Cell)
		for range plan.Warm {
			if r = transfer(conn, way, plan.Size, seed); r.Err != nil {
				return
			}
		}
		if plan.Trouble != nil {
			plan.Trouble(way)
		}
		r = transfer(conn, way, plan.Size, seed)
	})
	return r
}

// transfer moves one block and waits until the line is quiet again.
func transfer(conn *pipe, way *path, size int, seed uint64) (r Run) {
	block := content(size, seed)
	start, before := time.Now(), way.bytes()
	pushed := make(chan error, 1)
	go func() { pushed <- conn.push(block) }()
	late := time.AfterFunc(patience, conn.close)
	got, err := conn.fetch(size)
	late.Stop()
	r.Took, r.Err = time.Since(start), err
	if err == nil && !bytes.Equal(got, block) {
		r.Err = errCorrupt
	}
	time.Sleep(settle)
	r.Bytes = way.bytes() - before
	return r
}

// content is a block that cannot be compressed, the same for the same seed.
func content(size int, seed uint64) []byte {
	block := make([]byte, size)
	var key [32]byte
	key[0], key[1] = byte(seed), byte(seed>>8)
	_, _ = rand.NewChaCha8(key).Read(block)
	return block
}
