package eventlog

import "strings"

// kind is how an event is written.
type kind struct {
	name    string
	members []member
}

// member is one of those that an event has as data.
type member struct {
	name     string
	optional bool // it is left out when it does not apply
	of       func(*Event) any
}

// kinds says what each event has, in the order in which it is written. A question mark is
// behind what is left out when it does not apply.
var kinds = [...]kind{
	None:              list("none", ""),
	ConnectionStarted: list("connection_started", "role remote? mode variant lanes protocol_id"),
	ConnectionMoved:   list("connection_moved", "remote"),
	ConnectionEnded:   list("connection_ended", "why code? text?"),
	State:             list("state", "machine lane? from to row"),
	DatagramRefused:   list("datagram_refused", "code sentence? size count?"),
	ChunkStarted:      list("chunk_started", "lane chunk bytes? slices direction"),
	SliceSent:         list("slice_sent", "lane chunk slice bytes times why"),
	SliceAcked:        list("slice_acked", "lane chunk slice"),
	SlicesCounted:     list("slices_counted", "lane chunk have top"),
	SliceLost:         list("slice_lost", "lane chunk slice why"),
	SliceSpurious:     list("slice_spurious", "lane chunk slice"),
	SliceReceived:     list("slice_received", "lane chunk slice bytes as"),
	RTTSampled:        list("rtt_sampled", "lane chunk slice rtt_ms"),
	AckSent:           list("ack_sent", "lane chunk have slices complete"),
	AckReceived:       list("ack_received", "lane chunk have slices complete"),
	ChunkCompleted:    list("chunk_completed", "lane chunk bytes direction elapsed_ms"),
	ChunkFailed:       list("chunk_failed", "lane chunk direction why"),
	Metrics:           list("metrics", "rate? limit? in_flight rtt_ms? min_rtt_ms? mode"),
	PacketSent:        list("packet_sent", "number bytes"),
	PacketReceived:    list("packet_received", "number bytes"),
	PacketAcked:       list("packet_acked", "number"),
	PacketLost:        list("packet_lost", "number"),
	MessageSent:       list("message_sent", "channel bytes"),
	MessageDelivered:  list("message_delivered", "channel sequence bytes"),
	ChannelFailed:     list("channel_failed", "channel why"),
	DatagramDropped:   list("datagram_dropped", "direction why bytes carried? lane? chunk? slice?"),
	LogDropped:        list("log_dropped", "count"),
}

// fields returns where the value of a member is.
var fields = map[string]func(*Event) any{
	"as":          func(e *Event) any { return &e.As },
	"bytes":       func(e *Event) any { return &e.Bytes },
	"carried":     func(e *Event) any { return &e.Carried },
	"channel":     func(e *Event) any { return &e.Channel },
	"chunk":       func(e *Event) any { return &e.ChunkID },
	"code":        func(e *Event) any { return &e.Code },
	"complete":    func(e *Event) any { return &e.Complete },
	"count":       func(e *Event) any { return &e.Count },
	"direction":   func(e *Event) any { return &e.Direction },
	"elapsed_ms":  func(e *Event) any { return &e.Elapsed },
	"from":        func(e *Event) any { return &e.From },
	"have":        func(e *Event) any { return &e.Have },
	"in_flight":   func(e *Event) any { return &e.InFlight },
	"lane":        func(e *Event) any { return &e.Lane },
	"lanes":       func(e *Event) any { return &e.Lanes },
	"limit":       func(e *Event) any { return &e.Limit },
	"machine":     func(e *Event) any { return &e.Machine },
	"min_rtt_ms":  func(e *Event) any { return &e.MinRTT },
	"mode":        func(e *Event) any { return &e.Mode },
	"number":      func(e *Event) any { return &e.Number },
	"protocol_id": func(e *Event) any { return &e.ProtocolID },
	"rate":        func(e *Event) any { return &e.Rate },
	"remote":      func(e *Event) any { return &e.Remote },
	"role":        func(e *Event) any { return &e.Role },
	"row":         func(e *Event) any { return (*string)(&e.Row) },
	"rtt_ms":      func(e *Event) any { return &e.RTT },
	"sentence":    func(e *Event) any { return &e.Sentence },
	"sequence":    func(e *Event) any { return &e.Sequence },
	"size":        func(e *Event) any { return &e.Bytes },
	"slice":       func(e *Event) any { return &e.SliceID },
	"slices":      func(e *Event) any { return &e.NumSlices },
	"text":        func(e *Event) any { return &e.Text },
	"times":       func(e *Event) any { return &e.Times },
	"to":          func(e *Event) any { return &e.To },
	"top":         func(e *Event) any { return &e.Top },
	"variant":     func(e *Event) any { return &e.Variant },
	"why":         func(e *Event) any { return &e.Why },
}

func list(name, members string) kind {
	k := kind{name: name}
	for _, m := range strings.Fields(members) {
		name, optional := strings.CutSuffix(m, "?")
		k.members = append(k.members, member{name, optional, fields[name]})
	}
	return k
}

// kindOf returns the event that has a name, or None.
func kindOf(name string) Kind {
	for k := range kinds {
		if kinds[k].name == name {
			return Kind(k)
		}
	}
	return None
}

// lacks reports whether a member of the event is left out: it is optional, and does not
// apply. Of numbers that count from 0 the event itself says whether they do.
func (e *Event) lacks(m *member) bool {
	switch {
	case !m.optional:
		return false
	case m.name == "lane" && e.Kind == State:
		return !ofLanes[e.Machine]
	case m.name == "lane" || m.name == "chunk":
		return e.Carried != Slice && e.Carried != Ack
	case m.name == "slice":
		return e.Carried != Slice
	}
	return isZero(m.of(e))
}

// ofLanes are the machines of which each lane has one.
var ofLanes = map[string]bool{"sender": true, "receiver": true, "repair-sender": true, "repair-receiver": true}
