package driver

import (
	"context"
	"log/slog"
	"slices"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// Log writes to a logger of the application what happens to connections and sockets; nil writes nothing. What
// anyone can cause at will is limited: of refusals of a reason the first, the tenth, the hundredth and so on; of
// datagrams that do not decode at most one a second, and none of a source that was among the last logSources.
// It needs a lock.
type Log struct {
	to *slog.Logger

	undecodableAt core.Micros // when one may be written again
	sources       [logSources]udp.Key
	next          int // of sources, the one to be replaced
}

const (
	logSources = 64
	logPause   = core.Second
)

// NewLog returns nil if there is nothing to log to.
func NewLog(to *slog.Logger) *Log {
	if to == nil {
		return nil
	}
	return &Log{to: to}
}

func (l *Log) write(level slog.Level, text string, attrs ...slog.Attr) {
	l.to.LogAttrs(context.Background(), level, text, attrs...)
}

func remote(p udp.Addr) slog.Attr { return slog.String("remote", p.String()) }

// Begun writes that a connection began.
func (l *Log) Begun(to udp.Addr) {
	if l != nil {
		l.write(slog.LevelInfo, "connection begun", remote(to))
	}
}

// Ended writes that a connection ended: as a warning, unless an end wanted it.
func (l *Log) Ended(to udp.Addr, why string, wanted bool, cause error) {
	if l == nil {
		return
	}
	level := slog.LevelWarn
	if wanted {
		level = slog.LevelInfo
	}
	l.write(level, "connection ended", remote(to), slog.String("why", why), slog.String("error", cause.Error()))
}

// Moved writes that a connection goes on from another address.
func (l *Log) Moved(from, to udp.Addr) {
	if l != nil {
		l.write(slog.LevelInfo, "connection moved", remote(to), slog.String("from", from.String()))
	}
}

// Rebound writes that a connection goes on with a new socket of this end.
func (l *Log) Rebound(to udp.Addr) {
	if l != nil {
		l.write(slog.LevelInfo, "connection goes on with a new socket", remote(to))
	}
}

// Refused writes that a beginning was refused, of which there are so many for this reason.
func (l *Log) Refused(from udp.Addr, reason string, count int64) {
	if l != nil && isPowerOfTen(count) {
		l.write(slog.LevelWarn, "connection refused", remote(from), slog.String("reason", reason), slog.Int64("count", count))
	}
}

func isPowerOfTen(n int64) bool {
	for n >= 10 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

// Undecodable writes that a datagram was dropped, of which there are so many with this code.
func (l *Log) Undecodable(now core.Micros, from udp.Addr, code string, count int64) {
	if l == nil || now < l.undecodableAt || slices.Contains(l.sources[:], from.Key) {
		return
	}
	l.undecodableAt = now + logPause
	l.sources[l.next] = from.Key
	l.next = (l.next + 1) % logSources
	l.write(slog.LevelWarn, "datagram refused", remote(from), slog.String("code", code), slog.Int64("count", count))
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

// logOffload writes that the system has ended the segmentation offload.
func (l *Log) logOffload(refusal error) {
	if l != nil {
		l.write(slog.LevelWarn, "segmentation offload is off", slog.String("error", refusal.Error()))
	}
}
