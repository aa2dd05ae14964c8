package netsim

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// defaultMaxClients is the limit when RelayConfig.MaxClients is zero.
const defaultMaxClients = 64

// RelayConfig says what a [Relay] connects, and how badly.
type RelayConfig struct {
	// Listen is the socket clients send to. The relay owns it and closes it.
	Listen net.PacketConn

	// Server is where datagrams from clients go.
	Server net.Addr

	// Dial opens the socket for one client to the server. It must not be
	// connected, as the relay uses WriteTo. Whatever arrives on it goes to the
	// client. If Dial fails, the client's datagram is lost, and its next one
	// tries again.
	Dial func() (net.PacketConn, error)

	// Up is the path from each client to the server, Down the one back. Every
	// client has links of its own.
	Up, Down Path

	// Seed decides all chance, together with the order in which the clients
	// first appear.
	Seed uint64

	// MaxClients is how many clients the relay serves at once. Zero means 64.
	// Datagrams of further ones are ignored.
	MaxClients int

	// Idle is how long nothing must have come to or from a client before a new one
	// can take its place, where there is no other. Zero means that none is given up
	// until the relay is closed.
	Idle time.Duration
}

func (c *RelayConfig) validate() error {
	switch {
	case c.Listen == nil:
		return errors.New("netsim: relay without Listen")
	case c.Server == nil:
		return errors.New("netsim: relay without Server")
	case c.Dial == nil:
		return errors.New("netsim: relay without Dial")
	case c.MaxClients < 0:
		return fmt.Errorf("netsim: MaxClients is %d", c.MaxClients)
	case c.Idle < 0:
		return fmt.Errorf("netsim: Idle is %v", c.Idle)
	}
	return errors.Join(c.Up.Validate(), c.Down.Validate())
}

// Relay forwards datagrams between clients and a server, through two links per
// client.
type Relay struct {
	cfg   RelayConfig
	clock clock
	line  *delayLine // one for all, so one goroutine sends everything
	done  chan struct{}
	tasks sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	clients map[string]*client // by address
	counts  RelayCounts
	up      LinkStats // of clients that were given up
	down    LinkStats
}

// RelayCounts counts what happened at a [Relay] beside its links.
type RelayCounts struct {
	Clients     int   // that have a place now
	Served      int64 // clients so far
	Ignored     int64 // datagrams of clients that found no place
	DialErrors  int64 // datagrams of clients that got no socket
	WriteErrors int64 // datagrams that a socket did not take; they are lost
	ReadErrors  int64 // failed reads: a connected socket says so that nobody listens
	LastError   error // the latest of them all
}

// NewRelay starts a relay. If it fails, cfg.Listen is left open.
func NewRelay(cfg RelayConfig) (*Relay, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.MaxClients == 0 {
		cfg.MaxClients = defaultMaxClients
	}
	c := startClock()
	r := &Relay{
		cfg:     cfg,
		clock:   c,
		line:    newDelayLine(c),
		done:    make(chan struct{}),
		clients: make(map[string]*client),
	}
	r.tasks.Go(r.deliver)
	r.tasks.Go(r.readClients)
	return r, nil
}

// Stats returns the sums over all clients, toward the server and back.
func (r *Relay) Stats() (up, down LinkStats) {
	r.mu.Lock()
	defer r.mu.Unlock()
	up, down = r.up, r.down
	for _, c := range r.clients {
		up.add(c.up.Stats())
		down.add(c.down.Stats())
	}
	return up, down
}

// Counts returns what happened beside the links.
func (r *Relay) Counts() RelayCounts {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := r.counts
	counts.Clients = len(r.clients)
	return counts
}

// SetPaths changes the paths of all clients, as by [Link.SetPath], and of those to come. It fails if one
// is not valid, and then changes nothing.
func (r *Relay) SetPaths(up, down Path) error {
	if err := errors.Join(up.Validate(), down.Validate()); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cfg.Up, r.cfg.Down = up, down
	for _, c := range r.clients {
		c.up.setPath(up)
		c.down.setPath(down)
	}
	return nil
}

// Close closes Listen and the sockets made by Dial, and waits for all
// goroutines of the relay to end. Datagrams under way are lost. A second Close
// fails with [net.ErrClosed].
func (r *Relay) Close() error {
	if !r.shut() {
		return net.ErrClosed
	}
	r.line.close()
	err := r.cfg.Listen.Close()
	for _, c := range r.clients { // once shut, the map does not change
		err = errors.Join(err, c.upstream.Close())
	}
	r.tasks.Wait()
	return err
}

// shut stops the relay from adding clients, or returns false if that was done.
func (r *Relay) shut() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.closed = true
	close(r.done)
	return true
}
