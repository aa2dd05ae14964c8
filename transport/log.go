package transport

import (
	"context"
	"log/slog"

	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/session"
	"github.com/chunkwire/chunkwire/wire"
)

// logger writes what Config.Logger is told; nil writes nothing. What anyone can cause at will is limited: the
// first refusal of each reason, and then the tenth, the hundredth and so on; of datagrams that do not decode at
// most one a second, and none of a source that was among the last logSources.
type logger struct {
	to *slog.Logger

	undecodableAt machine.Micros // when one may be written again
	sources       [logSources]udp.Key
	next          int // of sources, the one to be replaced
}

const (
	logSources = 64
	logPause   = machine.Second
)

// newLogger returns nil if there is nothing to log to.
func newLogger(to *slog.Logger) *logger {
	if to == nil {
		return nil
	}
	return &logger{to: to}
}

func (l *logger) write(level slog.Level, text string, attrs ...slog.Attr) {
	l.to.LogAttrs(context.Background(), level, text, attrs...)
}

func remote(p udp.Peer) slog.Attr { return slog.String("remote", p.String()) }

func (l *logger) begun(to udp.Peer) {
	if l != nil {
		l.write(slog.LevelInfo, "connection begun", remote(to))
	}
}

// ended is written as a warning if nobody wanted it.
func (l *logger) ended(to udp.Peer, cause error) {
	if l == nil {
		return
	}
	level, end := slog.LevelInfo, endOf(cause)
	switch end {
	case EndClosed, EndClosedRemotely, EndReplaced:
	default:
		level = slog.LevelWarn
	}
	l.write(level, "connection ended", remote(to), slog.String("why", string(end)), slog.String("error", cause.Error()))
}

func (l *logger) moved(from, to udp.Peer) {
	if l != nil {
		l.write(slog.LevelInfo, "connection moved", remote(to), slog.String("from", from.String()))
	}
}

// refused is written of the first, the tenth, the hundredth and so on.
func (l *logger) refused(from udp.Peer, reason session.Reason, count int64) {
	if l != nil && isPowerOfTen(count) {
		l.write(slog.LevelWarn, "handshake refused", remote(from), slog.String("reason", reason.String()), slog.Int64("count", count))
	}
}

func isPowerOfTen(n int64) bool {
	for n >= 10 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

func (l *logger) undecodable(now machine.Micros, from udp.Peer, code wire.Code, count int64) {
	if l == nil || now < l.undecodableAt {
		return
	}
	for _, source := range l.sources {
		if source == from.Key {
			return
		}
	}
	l.undecodableAt = now + logPause
	l.sources[l.next] = from.Key
	l.next = (l.next + 1) % logSources
	l.write(slog.LevelWarn, "datagram refused", remote(from), slog.String("code", string(code)), slog.Int64("count", count))
}

// watch writes what a driver that was started says of its socket, and will say.
func (l *logger) watch(d *driver.Driver, wanted int) {
	if l == nil {
		return
	}
	d.Lock()
	b := d.StatsLocked().Buffers
	d.Unlock()
	if b.Err != nil || b.Read > 0 && b.Read < wanted || b.Write > 0 && b.Write < wanted {
		attrs := []slog.Attr{slog.Int("wanted", wanted), slog.Int("read", b.Read), slog.Int("write", b.Write)}
		if b.Err != nil {
			attrs = append(attrs, slog.String("error", b.Err.Error()))
		}
		l.write(slog.LevelWarn, "socket buffers are small", attrs...)
	}
}

// offloadEnded is called by the driver.
func (l *logger) offloadEnded() func(error) {
	if l == nil {
		return nil
	}
	return func(refusal error) {
		l.write(slog.LevelWarn, "segmentation offload is off", slog.String("error", refusal.Error()))
	}
}
