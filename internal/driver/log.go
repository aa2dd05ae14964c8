package driver

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"

	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// Log writes to a logger of the application what happens to connections and sockets; nil writes nothing. What
// others cause is limited by an eventlog.Limit: its kinds are the texts of the records, and the end of a connection that
// nobody wanted is a kind of its own. Of what the limit left out the next record of its kind has the number.
type Log struct {
	to    *slog.Logger
	clock Clock

	mu    sync.Mutex // several drivers can share a Log
	limit eventlog.Limit
}

// NewLog returns nil if there is nothing to log to.
func NewLog(to *slog.Logger, clock Clock) *Log {
	if to == nil {
		return nil
	}
	return &Log{to: to, clock: clock}
}

func (l *Log) write(level slog.Level, text string, attrs ...slog.Attr) {
	l.to.LogAttrs(context.Background(), level, text, attrs...)
}

// limited writes what somebody at an address caused.
func (l *Log) limited(from udp.Addr, level slog.Level, kind, text string, attrs ...slog.Attr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	omitted, ok := l.limit.Take(l.clock.Now(), kind, SourceOf(from))
	if !ok {
		return
	}
	if omitted > 0 {
		attrs = append(attrs, slog.Int64("omitted", omitted))
	}
	l.write(level, text, append([]slog.Attr{slog.String("remote", from.String())}, attrs...)...)
}

// SourceOf returns what an address counts as: an IPv4 address, the first 64 bits of any other, or a name.
func SourceOf(p udp.Addr) uint64 {
	ip := p.AddrPort().Addr()
	if !ip.IsValid() {
		named, err := netip.ParseAddrPort(p.String()) // of a socket that is not the system's
		if err != nil {
			return eventlog.SourceOf([]byte(p.String()))
		}
		ip = named.Addr().Unmap()
	}
	b := ip.As16()
	if ip.Is4() {
		return eventlog.SourceOf(b[:])
	}
	return eventlog.SourceOf(b[:8])
}

// Begun writes that a connection began.
func (l *Log) Begun(to udp.Addr) {
	if l != nil {
		l.limited(to, slog.LevelInfo, "begun", "connection begun")
	}
}

// mostCause is how many bytes of a cause are written: it can have a text of the other end.
const mostCause = 160

// Ended writes that a connection ended: as a warning, unless an end wanted it.
func (l *Log) Ended(to udp.Addr, why string, wanted bool, cause error) {
	if l == nil {
		return
	}
	level, kind := slog.LevelWarn, "ended unwanted"
	if wanted {
		level, kind = slog.LevelInfo, "ended"
	}
	text := cause.Error()
	if len(text) > mostCause {
		text = text[:mostCause] + "..."
	}
	l.limited(to, level, kind, "connection ended", slog.String("why", why), slog.String("error", text))
}

// Moved writes that a connection goes on from another address.
func (l *Log) Moved(from, to udp.Addr) {
	if l != nil {
		l.limited(to, slog.LevelInfo, "moved", "connection moved", slog.String("from", from.String()))
	}
}

// Rebound writes that a connection goes on with a new socket of this end.
func (l *Log) Rebound(to udp.Addr) {
	if l != nil {
		l.write(slog.LevelInfo, "connection goes on with a new socket", slog.String("remote", to.String()))
	}
}

// Refused writes that a beginning was refused, of which there are so many for this reason.
func (l *Log) Refused(from udp.Addr, reason string, count int64) {
	if l != nil {
		l.limited(from, slog.LevelWarn, "refused", "connection refused", slog.String("reason", reason), slog.Int64("count", count))
	}
}

// Undecodable writes that a datagram was dropped, of which there are so many with this code.
func (l *Log) Undecodable(from udp.Addr, code string, count int64) {
	if l != nil {
		l.limited(from, slog.LevelWarn, "undecodable", "datagram refused", slog.String("code", code), slog.Int64("count", count))
	}
}

// Late writes that a datagram came for a connection that had just ended: of an ordinary goodbye.
func (l *Log) Late(from udp.Addr, code string) {
	if l != nil {
		l.limited(from, slog.LevelDebug, "late", "datagram of an ended connection", slog.String("code", code))
	}
}

// logBuffers writes that the buffers of a socket are small, if they are.
func (l *Log) logBuffers(b udp.Buffers, wanted int) {
	if l == nil || b.Err == nil && (b.Read == 0 || b.Read >= wanted) && (b.Write == 0 || b.Write >= wanted) {
		return
	}
	attrs := []slog.Attr{slog.Int("wanted", wanted), slog.Int("read", b.Read), slog.Int("write", b.Write)}
	if b.Err != nil {
		attrs = append(attrs, slog.String("error", b.Err.Error()))
	}
	l.write(slog.LevelWarn, "socket buffers are small", attrs...)
}

// logOffload writes that the system does not take the runs of a peer.
func (l *Log) logOffload(refusal error) {
	if l != nil {
		l.write(slog.LevelWarn, "segmentation offload is off", slog.String("error", refusal.Error()))
	}
}
