package driver

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// Polled is what a driver polls: a link, or a table of handshakes.
type Polled interface {
	// PollLocked puts what is due into the batch until nothing more is or the batch
	// is full, and then gives the connection its next time, by ScheduleLocked.
	PollLocked(now core.Micros, b *Batch)
}

// Protocol is what the connections of a driver speak.
type Protocol interface {
	// Receive takes what arrived together. It is called by the reader, without the lock.
	Receive(now core.Micros, in []udp.Arrival)
	// Unreadable notes a datagram of which the socket could not give all. It is
	// called like Receive.
	Unreadable(size int, from udp.Addr)
	// PortUnreachableLocked notes that nobody listens at the other end of a
	// connected socket.
	PortUnreachableLocked(err error)
	// ExpireLocked ends the connections whose time is over while a write blocks.
	ExpireLocked(now core.Micros)
	// EndLocked ends all connections: the driver has ended.
	EndLocked(cause error)
}

// Driver is a socket and its connections.
type Driver struct {
	Clock
	protocol Protocol

	// Log takes what happens to the socket; nil is none. It is set before Start.
	Log *Log

	writer chan struct{} // holds who writes to the socket and uses batch; it is filled before the Mutex below is locked, or only tried
	waited bool          // the latest write of a reader took so long that there can have been no room
	batch  *Batch
	tasks  sync.WaitGroup // the readers and the driver
	wake   chan struct{}  // ends the driver's sleep; one is enough
	done   chan struct{}  // closed when the driver has ended
	driven chan struct{}  // closed when its goroutine has

	sync.Mutex // guards all below, and the connections

	socket     udp.Socket
	sockets    int // so far, this one among them
	closeErr   error
	closed     bool // the socket is
	agenda     agenda
	sleepUntil core.Micros // what the driver sleeps for; awake while it works
	timer      *time.Timer // that ends its sleep
	pause      core.Micros // how long it sleeps at least if nothing is due at once
	taking     int         // readers that have taken something, and will look what is due
	watchdog   watchdog
	last       []udp.Run // of connections that have ended
	answers    answers
	flushes    []flush // who waits for the driver
	working    []*Link // with a chunk that is made in steps
	stats      Stats
	err        error // why it has ended; nil while it is active
}

// awake is before any time that the driver could sleep for.
const awake core.Micros = -1

const (
	// mostLast is how many last datagrams of connections wait to be sent.
	mostLast = 1024
	// lastWrites is how long Close waits for a socket that does not take the
	// last datagrams.
	lastWrites = time.Second
)

// New returns a driver that has not been started, for datagrams of at most so many
// bytes.
func New(socket udp.Socket, protocol Protocol, clock Clock, largest int) *Driver {
	d := &Driver{
		Clock:      clock,
		protocol:   protocol,
		writer:     make(chan struct{}, 1),
		batch:      NewBatch(largest),
		wake:       make(chan struct{}, 1),
		done:       make(chan struct{}),
		driven:     make(chan struct{}),
		socket:     socket,
		pause:      pauseOf(socket),
		sleepUntil: awake,
		timer:      time.NewTimer(time.Hour),
	}
	d.watchdog.driver = d
	return d
}

// pauseOf returns how long the driver of a socket sleeps at least. What is due within that time is sent together: the
// pace allows to catch up (PAC-4), and a sleep costs more than a datagram. A system's timers mostly have no finer grain.
func pauseOf(socket udp.Socket) core.Micros {
	if udp.Gathers(socket) {
		return core.Millisecond
	}
	return 0
}

// Start sets the buffers of the socket, which is conn, to so many bytes, and starts
// the goroutines.
func (d *Driver) Start(conn any, bufferBytes int) {
	d.stats.Buffers = udp.SizeBuffers(conn, bufferBytes)
	d.Log.logBuffers(d.stats.Buffers, bufferBytes)
	d.tasks.Go(func() { d.read(d.socket, d.sockets) })
	d.tasks.Go(d.drive)
}

// GoLocked starts a goroutine for which Close waits, unless the driver has ended.
func (d *Driver) GoLocked(f func()) {
	if d.err == nil {
		d.tasks.Go(f)
	}
}

// Socket returns the socket.
func (d *Driver) Socket() udp.Socket {
	d.Lock()
	defer d.Unlock()
	return d.socket
}

// CanBeginLocked reports whether a datagram's source can be a peer.
func (d *Driver) CanBeginLocked(from udp.Addr) bool { return d.socket.CanBegin(from) }

// Done returns a channel that is closed when the driver has ended.
func (d *Driver) Done() <-chan struct{} { return d.done }

// Err returns why the driver has ended, or nil while it is active.
func (d *Driver) Err() error {
	d.Lock()
	defer d.Unlock()
	return d.err
}

// ErrLocked is Err.
func (d *Driver) ErrLocked() error { return d.err }

// Close ends the driver with a cause, unless it has ended. When it returns, its
// goroutines have ended. It returns what closing the socket returned, each time.
func (d *Driver) Close(cause error) error {
	d.Lock()
	d.EndLocked(cause)
	d.Unlock()
	patience := time.NewTimer(lastWrites)
	defer patience.Stop()
	select {
	case <-d.driven:
	case <-patience.C:
		d.closeSocket()
	}
	d.tasks.Wait()
	return d.closeErr
}

// closeSocket closes the socket, once. It ends the reader.
func (d *Driver) closeSocket() {
	d.Lock()
	socket, closed := d.socket, d.closed
	d.closed = true
	d.Unlock()
	if closed {
		return
	}
	err := socket.Close()
	d.Lock()
	defer d.Unlock()
	if !errors.Is(err, net.ErrClosed) { // else somebody else did it
		d.closeErr = err
	}
}

// EndLocked ends the driver, unless it has ended. Its goroutine then closes the
// socket.
func (d *Driver) EndLocked(cause error) {
	if d.err != nil {
		return
	}
	d.err = cause
	d.protocol.EndLocked(cause)
	for _, l := range d.working {
		l.doneLocked(d.Now())
	}
	d.working = nil
	close(d.done)
	d.watchdog.stopLocked()
	d.wakeLocked()
}

// AddLocked makes a connection known. It is due when ScheduleLocked says.
func (d *Driver) AddLocked(s *Slot, c Polled) {
	s.conn, s.due = c, core.Never
	d.agenda.add(s)
}

// RemoveLocked forgets a connection, so that ended ones cost nothing.
func (d *Driver) RemoveLocked(s *Slot) { d.agenda.remove(s) }

// ScheduleLocked sets when the driver looks at a connection again.
func (d *Driver) ScheduleLocked(s *Slot, due core.Micros) {
	d.agenda.move(s, due)
	d.wakeLocked()
}

// SendLastLocked sends a datagram of a connection that has ended, unless too many
// wait. The datagram must not change.
func (d *Driver) SendLastLocked(to udp.Addr, datagram []byte) bool {
	if len(d.last) >= mostLast {
		return false
	}
	d.last = append(d.last, udp.Run{Data: datagram, Size: len(datagram), To: to})
	d.wakeLocked()
	return true
}
