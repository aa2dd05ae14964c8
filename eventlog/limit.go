package eventlog

import "github.com/chunkwire/chunkwire/core"

// Limit says which records are written that others cause at will (CXA-5): of a kind KindAtOnce and then one in
// KindInterval, of a kind and a source SourceAtOnce and then one in SourceInterval. What is left out is counted.
// The zero value is ready to use. It needs a lock.
type Limit struct{ kinds map[string]*limited }

// The bounds of a Limit.
const (
	KindAtOnce     = 256
	KindInterval   = core.Second
	SourceAtOnce   = 16
	SourceInterval = 10 * core.Second
)

// limited is the records of a kind. Sources that share a bucket can only lose records by that.
type limited struct {
	all     bucket
	sources [256]bucket
	omitted int64
}

// Take reports whether a record of a kind can be written, which a source caused, and how many of this kind were
// left out since the one before. There are few kinds, and a source is any hash of whom it stands for.
func (l *Limit) Take(now core.Micros, kind string, source uint64) (omitted int64, ok bool) {
	k := l.kinds[kind]
	if k == nil {
		if l.kinds == nil {
			l.kinds = make(map[string]*limited)
		}
		k = &limited{}
		l.kinds[kind] = k
	}
	from := &k.sources[source%uint64(len(k.sources))]
	if from.isEmpty(now, SourceInterval, SourceAtOnce) || k.all.isEmpty(now, KindInterval, KindAtOnce) {
		k.omitted++
		return 0, false
	}
	from.take(now, SourceInterval)
	k.all.take(now, KindInterval)
	omitted, k.omitted = k.omitted, 0
	return omitted, true
}

// bucket is when the next record would be due if the ones before had been spread evenly.
type bucket core.Micros

func (b bucket) isEmpty(now, interval core.Micros, atOnce int) bool {
	return core.Micros(b) > now+interval*core.Micros(atOnce-1)
}

func (b *bucket) take(now, interval core.Micros) { *b = bucket(max(core.Micros(*b), now) + interval) }

// SourceOf returns the source that a prefix of an address, or the name of a peer, stands for.
func SourceOf(prefix []byte) uint64 {
	hash := uint64(14695981039346656037) // FNV-1a
	for _, b := range prefix {
		hash = (hash ^ uint64(b)) * 1099511628211
	}
	return hash
}
