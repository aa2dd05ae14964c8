package driver

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// read takes datagrams from a socket until it fails permanently, or is replaced. The
// number is how many sockets the driver had when it began.
func (d *Driver) read(socket udp.Socket, number int) {
	var trouble readTrouble
	take := d.take // made once
	if udp.Gathers(socket) {
		take = d.takeAndSend
	}
	for {
		began := d.Now()
		err := socket.Read(take)
		if err == nil {
			trouble = readTrouble{}
			continue
		}
		now := d.Now()
		if !d.survives(number, &trouble, now, now-began, err) {
			return
		}
		time.Sleep(trouble.pause())
	}
}

// take gives the protocol the datagrams that arrived together, with one reading of the clock.
func (d *Driver) take(in []udp.Arrival) {
	if in[0].Cut {
		d.protocol.Unreadable(len(in[0].Data), in[0].From)
		return
	}
	d.protocol.Receive(d.Now(), in)
}

// takeAndSend is take for a socket that gives together what has arrived: then nothing is waiting that could change what
// is to be sent.
func (d *Driver) takeAndSend(in []udp.Arrival) {
	d.Lock()
	d.taking++
	d.Unlock()
	d.take(in)
	d.sendNow()
}

// readTrouble is a run of failed reads.
type readTrouble struct {
	count int
	since core.Micros
}

// pause returns how long to wait before the next read.
func (t *readTrouble) pause() time.Duration {
	if t.count <= freeRetries {
		return 0
	}
	return pauseAfterRead
}

// A read fails for reasons that pass, such as an ICMP message that came for a
// datagram sent before. Then the next read waits. A socket that is broken fails
// each read at once; after some time of that the driver ends.
const (
	brokenAfter    = 5 * core.Second
	blockedRead    = 10 * core.Millisecond // a read that took so long did wait
	freeRetries    = 16                    // so many without a pause
	pauseAfterRead = time.Millisecond
)

// survives counts a failed read that took some time, and reports whether the reader
// goes on. If it does not, that ends the driver, unless the socket was replaced.
func (d *Driver) survives(number int, t *readTrouble, now, took core.Micros, err error) bool {
	d.Lock()
	defer d.Unlock()
	if d.sockets != number {
		return false
	}
	if cause := fatal(err); cause != nil {
		d.EndLocked(cause)
		return false
	}
	if udp.PortUnreachable(err) {
		d.protocol.PortUnreachableLocked(err)
	}
	if t.count == 0 || took >= blockedRead {
		*t = readTrouble{since: now}
	}
	t.count++
	d.stats.ReadErrors++
	if d.err == nil && now-t.since >= brokenAfter {
		d.EndLocked(fmt.Errorf("%w: %w", ErrSocket, err))
	}
	return d.err == nil
}

// fatal returns why the driver must end at once, if so.
func fatal(err error) error {
	switch {
	case errors.Is(err, net.ErrClosed):
		return fmt.Errorf("%w: %w", ErrClosed, err)
	case errors.Is(err, io.EOF): // there is a session below, which its peer has ended
		return fmt.Errorf("%w: %w", ErrSocket, err)
	}
	return nil
}

// ReplaceSocket makes the driver go on with another socket, which is conn, and
// closes the one before. It fails with what has ended the driver.
func (d *Driver) ReplaceSocket(socket udp.Socket, conn any, bufferBytes int) error {
	buffers := udp.SizeBuffers(conn, bufferBytes)
	d.Lock()
	if d.err != nil {
		defer d.Unlock()
		return d.err
	}
	old := d.socket
	d.socket, d.stats.Buffers = socket, buffers
	d.sockets++
	number := d.sockets
	d.tasks.Go(func() { d.read(socket, number) })
	d.Unlock()
	old.Close()
	return nil
}

// CountInLocked counts a datagram that was read.
func (d *Driver) CountInLocked(size int) { d.stats.In(size) }
