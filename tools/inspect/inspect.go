package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/packet"
)

// Protocol says what a datagram is taken as.
type Protocol string

// The protocols. Auto finds out.
const (
	Auto              Protocol = ""
	Chunks            Protocol = "chunks"             // slices and acks in the frame of PROTOCOL.md, section 5
	Repair            Protocol = "repair"             // repair slices and their acks in the same frame
	SliceBody         Protocol = "slice-body"         // bare bodies
	AckBody           Protocol = "ack-body"           //
	RepairSliceBody   Protocol = "repair-slice-body"  //
	RepairAckBody     Protocol = "repair-ack-body"    //
	Packets           Protocol = "packets"            // the packet layer, with any payload
	Channels          Protocol = "channels"           // the packet layer, with records of channels
	Records           Protocol = "records"            // a payload with records of channels
	ConnectionRecords Protocol = "connection-records" // a payload with records of channels and of a connection
	Connection        Protocol = "connection"         // handshake and data of CONNECTION.md
	Unknown           Protocol = "unknown"            // none of them takes it
)

// Protocols are those that a user can ask for.
func Protocols() []Protocol {
	return []Protocol{Chunks, Repair, SliceBody, AckBody, RepairSliceBody, RepairAckBody, Packets, Channels, Records, ConnectionRecords, Connection}
}

// Options say what is known of datagrams. The zero value knows nothing.
type Options struct {
	As          Protocol
	ProtocolIDs []uint32 // candidates for the protocol id of plain chunks
	Lanes       int      // of plain chunks; 0: any number
	// Keys are those of connections by their links, as a session.KeyLog gives them: from the client, from
	// the server.
	Keys map[uint32][2]session.Key
	// Records is what the ends of a connection agreed on; nil: a handshake says it, or it is found out.
	Records *connection.Format
	Packets packet.Format
	// Channels is the format of channels; a field that is 0 is the largest that there is, since no datagram
	// says it.
	Channels channel.Format
	Brief    bool // results have no fields: those of a whole capture can be kept
	Clear    bool // results have the datagrams that were opened, in clear
}

// Result is what a datagram holds.
type Result struct {
	Protocol Protocol `json:"protocol"`
	Size     int      `json:"size"`
	Summary  string   `json:"summary"`
	Lane     *Lane    `json:"lane,omitempty"`  // of plain chunks, where a candidate's protocol id fits
	Notes    []string `json:"notes,omitempty"` // what could not be checked, and why
	Refused  *Refusal `json:"refused,omitempty"`
	Fields   []Field  `json:"fields"`

	// Clear is a datagram of a connection that is encrypted, as it were in mode mac: with a part of its tag, or, of
	// PROOF, with that mode. It is nil for others.
	Clear []byte `json:"-"`

	holds holding
}

// Again reports whether the datagram is a copy of one that came before: it is refused, but nothing is wrong with it.
func (r *Result) Again() bool { return r.Refused != nil && r.Refused.Sentence == "CXE-24" }

// holding is what the story of a transfer needs of a datagram.
type holding struct {
	message *session.Message // of a connection
	counter uint64           // of data that was opened
	opened  bool
	packet  *packet.Packet // without its payload
	chunks  []laneChunk
	closed  *connection.Record
	others  int // records of channels
}

// laneChunk is a slice or an ack of a lane.
type laneChunk struct {
	lane int
	codec.Packet
}

// note adds what could not be checked.
func (r *Result) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Inspector inspects datagrams in the order in which they went. From the handshakes among them
// it learns what belongs to a connection, and with a key opens what they seal.
type Inspector struct {
	opts   Options
	offers map[session.Nonce]offered
	links  map[uint32]*link
	ids    map[uint32]*fitting
}

// fitting counts the datagrams whose crc fits a protocol id, and that nothing else speaks against.
type fitting struct{ slices, repair int }

func (f *fitting) sum() int { return f.slices + f.repair }

// offered is the PROOF of an attempt, with the addresses from which it was sent.
type offered struct {
	offer session.Offer
	from  map[netip.AddrPort]bool
}

// link is a connection whose handshake was seen.
type link struct {
	agreed session.Agreed
	mode   session.Mode
	keys   *[2]session.Key // from the client, from the server; nil: not known
	ways   map[way]*[2]*session.Link
	asked  map[netip.AddrPort]bool // addresses from which the client asked
}

// way is the addresses of two ends, in a fixed order. A capture on both sides of a relay has each datagram of a
// connection on two ways, and neither is a copy of the other.
type way [2]netip.AddrPort

func wayOf(a, b netip.AddrPort) way {
	if a.Compare(b) > 0 {
		a, b = b, a
	}
	return way{a, b}
}

// sides are the two directions of a connection between two addresses, each with its own window of counters.
func (l *link) sides(w way) *[2]*session.Link {
	s := l.ways[w]
	if s == nil {
		s = &[2]*session.Link{}
		for i, key := range l.keys {
			s[i] = session.NewLink(session.LinkConfig{Mode: l.mode, Agreed: l.agreed, Open: key})
		}
		l.ways[w] = s
	}
	return s
}

// largestWindow is the most sequences that the receiver of a channel keeps.
const largestWindow = 16384

// New returns an Inspector.
func New(opts Options) *Inspector {
	if opts.Channels.Window == 0 {
		opts.Channels.Window = largestWindow
	}
	return &Inspector{opts: opts, offers: map[session.Nonce]offered{}, links: map[uint32]*link{}, ids: map[uint32]*fitting{}}
}

// Datagram inspects one datagram of which nothing else is known.
func Datagram(b []byte, opts Options) Result {
	return New(opts).Datagram(netip.AddrPort{}, netip.AddrPort{}, b)
}

// Datagram inspects the next datagram, from one address to another. It keeps nothing of b.
func (in *Inspector) Datagram(from, to netip.AddrPort, b []byte) Result {
	p := in.opts.As
	if p == Auto {
		p = in.find(b)
	}
	r := Result{Protocol: p, Size: len(b), Fields: []Field{}}
	switch p {
	case Chunks, Repair:
		in.framed(&r, b)
	case SliceBody, AckBody, RepairSliceBody, RepairAckBody:
		in.bare(&r, b)
	case Packets, Channels:
		t := in.tree(&r, b)
		in.packet(&r, t, 0, len(b), func(from, to int) {
			if p == Channels {
				in.payload(&r, t, from, to, in.formats(nil, nil), false)
			}
		})
		t.done("rest")
	case Records, ConnectionRecords:
		t := in.tree(&r, b)
		in.payload(&r, t, 0, len(b), in.formats(nil, b), p == ConnectionRecords)
		t.done("rest")
	case Connection:
		in.session(&r, from, to, b)
	default:
		r.Summary = "no protocol of the family takes it"
		in.tree(&r, b).done("bytes")
	}
	if r.Refused != nil {
		r.Summary = "refused: " + r.Refused.Text
	}
	return r
}

// find finds the protocol of a datagram: by the end check, by the kind of a message, by the form of a
// packet with records or without.
func (in *Inspector) find(b []byte) Protocol {
	switch {
	case len(b) == 0:
		return Unknown
	case hasEndCheck(b):
		return in.variant(b)
	case b[0] >= byte(session.KindCRC) && b[0] <= byte(session.KindRefused):
		return Connection
	}
	p, err := in.opts.Packets.Decode(b)
	if err != nil {
		return Unknown
	}
	f := in.formats(nil, nil)
	if _, err := f.decodeRecords(p.Data, false); p.NumFragments == 0 && err == nil {
		return Channels
	}
	return Packets
}

// variant finds out whether slices in the frame are repair slices: the protocol id says it, or else what
// the datagram decodes to.
func (in *Inspector) variant(b []byte) Protocol {
	id := protocolIDOf(b)
	if l, ok := laneOf(id, in.opts.ProtocolIDs, in.opts.Lanes); ok && !l.Repair {
		return Chunks
	} else if ok {
		return Repair
	}
	if _, err := frame(b, id, false); err != nil {
		if _, err := frame(b, id, true); err == nil {
			return Repair
		}
	}
	return Chunks
}

// framed inspects a datagram in the frame of chunks.
func (in *Inspector) framed(r *Result, b []byte) {
	withRepair := r.Protocol == Repair
	id, given := in.protocolID(r, b)
	c, err := frame(b, id, withRepair)
	t := in.tree(r, b)
	t.walk(map[bool]string{false: "chunk-datagram", true: "repair-datagram"}[withRepair], len(b), layout.Parameters{"PROTOCOL_ID": int64(id)}, nil)
	t.done("rest")
	if err != nil {
		r.Refused = refusalOf(err, "bit", "datagram", 0)
		if errors.Is(err, codec.ErrCRCMismatch) && given {
			in.hint(r, b, withRepair)
		}
		return
	}
	lane := 0
	if r.Lane != nil {
		lane = r.Lane.Lane
	} else {
		in.fits(id, withRepair)
	}
	r.Summary = describe(&c)
	r.holds.chunks = []laneChunk{{lane, c}}
}

// protocolID returns the protocol id with which a datagram is to be decoded: that of a lane of a candidate,
// or the first candidate's if there is none; without candidates that which the crc has.
func (in *Inspector) protocolID(r *Result, b []byte) (id uint32, given bool) {
	if len(b) < 4 {
		return 0, false
	}
	id = protocolIDOf(b)
	if l, ok := laneOf(id, in.opts.ProtocolIDs, in.opts.Lanes); ok && l.Repair == (r.Protocol == Repair) {
		r.Lane = &l
		return id, true
	}
	if slices.Contains(in.opts.ProtocolIDs, id) {
		return id, true
	}
	if f := in.ids[id]; len(in.opts.ProtocolIDs) == 0 || f != nil && f.sum() >= 3 {
		r.note("the crc is right with the protocol id 0x%08x, and with no other; nothing else confirms it", id)
		return id, false
	}
	return in.opts.ProtocolIDs[0], true
}

// hint says which protocol id a datagram has whose crc no candidate makes right.
func (in *Inspector) hint(r *Result, b []byte, withRepair bool) {
	id := protocolIDOf(b)
	if _, err := frame(b, id, withRepair); err == nil {
		in.fits(id, withRepair)
		r.note("all else is right, and with the protocol id 0x%08x the crc is, too: another --protocol-id or --lanes, or a changed bit", id)
	}
}

func (in *Inspector) fits(id uint32, withRepair bool) {
	f := in.ids[id]
	if f == nil {
		f = &fitting{}
		in.ids[id] = f
	}
	if withRepair {
		f.repair++
	} else {
		f.slices++
	}
}

// mostFound is how many protocol ids are found at most: with each of them all datagrams are compared.
const mostFound = 64

// ProtocolIDs returns the protocol ids that most likely are those of datagrams whose crc fits no candidate.
// What fits several datagrams is taken for the lanes of one connection, from the first to the last: who knows
// how many there are says it in Options.Lanes.
func (in *Inspector) ProtocolIDs() (bases []uint32) {
	of := map[uint32]int{} // datagrams
	ids := slices.Sorted(maps.Keys(in.ids))
	for len(ids) > 0 {
		n := 1
		for n < len(ids) && ids[n]-ids[0] < session.MostLanes {
			n++
		}
		base, datagrams := in.connectionOf(ids[:n])
		if datagrams >= 2 {
			bases = append(bases, base)
		}
		of[base] += datagrams
		ids = ids[n:]
	}
	slices.SortFunc(bases, func(a, b uint32) int { return cmp.Or(of[b]-of[a], cmp.Compare(a, b)) })
	return bases[:min(len(bases), mostFound)]
}

// connectionOf returns the protocol id of the connection that has lanes with these (LAN-2, RPI-1), and how many
// datagrams fit.
func (in *Inspector) connectionOf(lanes []uint32) (base uint32, datagrams int) {
	repaired := 0
	for _, id := range lanes {
		datagrams, repaired = datagrams+in.ids[id].sum(), repaired+in.ids[id].repair
	}
	n := int(lanes[len(lanes)-1]-lanes[0]) + 1
	base = lanes[0] - uint32(16*(max(n, in.opts.Lanes)-1))
	if 2*repaired > datagrams {
		base -= laneIDs
	}
	return base, datagrams
}

// bare inspects a bare body.
func (in *Inspector) bare(r *Result, b []byte) {
	ack := r.Protocol == AckBody || r.Protocol == RepairAckBody
	withRepair := r.Protocol == RepairSliceBody || r.Protocol == RepairAckBody
	c, err := decodeBody(b, withRepair, ack)
	if err != nil {
		r.Refused = refusalOf(err, "bit", "body", 0)
	}
	t := in.tree(r, b)
	t.walk(map[bool]string{false: "chunk-body", true: "repair-body"}[withRepair], len(b), nil, layout.Values{"type": c.Type.String()})
	t.done("rest")
	r.Summary = describe(&c)
}

// decodeBody decodes a bare body (DEC-17).
func decodeBody(b []byte, withRepair, ack bool) (p codec.Packet, err error) {
	kind := codec.KindOf(withRepair)
	if ack {
		p.Type = codec.TypeAck
		p.Ack, err = kind.DecodeAckBody(b)
	} else {
		p.Slice, err = kind.DecodeSliceBody(b)
	}
	return p, err
}

// packet inspects a datagram of the packet layer, and gives the place of the payload of a whole packet to payload.
func (in *Inspector) packet(r *Result, t *tree, from, to int, payload func(from, to int)) {
	p, err := in.opts.Packets.Decode(t.b[from:to])
	t.walk("packet", to, in.packets(), nil)
	if err != nil {
		r.Refused = refusalOf(err, "byte", "packet", 8*from)
		return
	}
	r.Summary = packetSummary(&p)
	r.holds.packet = &packet.Packet{Header: p.Header, FragmentID: p.FragmentID, NumFragments: p.NumFragments}
	if p.NumFragments == 0 {
		payload(to-len(p.Data), to)
	}
}

// packets are the parameters of the layout of packets.
func (in *Inspector) packets() layout.Parameters {
	p := layout.Parameters{}
	if f := in.opts.Packets; f.FragmentSize > 0 {
		p["FRAGMENT_SIZE"], p["MAX_FRAGMENTS"] = int64(f.FragmentSize), int64(f.MaxFragments)
	}
	return p
}

// payload inspects records, in the place of a payload.
func (in *Inspector) payload(r *Result, t *tree, from, to int, f formats, inConnection bool) {
	list, err := f.decodeRecords(t.b[from:to], inConnection)
	for i := range list {
		m := &list[i]
		if r.Summary != "" {
			r.Summary += "; "
		}
		r.Summary += m.String()
		r.holds.add(m)
	}
	if err != nil {
		r.Refused, r.holds.chunks = refusalOf(err, "byte", "payload", 8*from), nil
	}
	t.cut("payload")
	t.walk(map[bool]string{false: "channel-payload", true: "connection-payload"}[inConnection], to, f.parameters(), nil)
}

func (h *holding) add(m *message) {
	switch {
	case m.isChunk():
		h.chunks = append(h.chunks, laneChunk{m.connection.Lane, m.chunk()})
	case m.of && m.connection.Type == connection.TypeClose:
		r := m.connection
		r.Text = slices.Clone(r.Text)
		h.closed = &r
	case !m.of && m.channel.Type != channel.TypePad:
		h.others++
	}
}

// formats returns what the records of a payload have: what was agreed, or what fits.
func (in *Inspector) formats(l *link, payload []byte) formats {
	f := formats{connection.Format{Lanes: session.MostLanes, Repair: true, ECN: true, Clock: true}, in.opts.Channels}
	switch {
	case l != nil:
		f.records = connection.Format{Lanes: l.agreed.Lanes, Repair: l.agreed.Variant == session.VariantRepair, ECN: l.agreed.Extensions&session.ExtensionECN != 0, Clock: l.agreed.Extensions&session.ExtensionClock != 0}
	case in.opts.Records != nil:
		f.records = *in.opts.Records
	default:
		if _, err := f.decodeRecords(payload, true); err != nil {
			other := f
			other.records.Repair = false
			if _, err := other.decodeRecords(payload, true); err == nil {
				return other
			}
		}
	}
	return f
}

// session inspects a datagram of a connection.
func (in *Inspector) session(r *Result, from, to netip.AddrPort, b []byte) {
	m, err := session.Decode(b)
	if err == nil {
		r.Summary = messageSummary(&m)
		kept := m
		kept.Body, kept.Tag = nil, nil
		r.holds.message = &kept
		if m.Tag != nil {
			in.data(r, from, to, &m, b)
			return
		}
		in.learn(from, &m)
		if in.opts.Clear && m.Kind == session.KindProof && m.Offer.Mode == session.AEAD {
			m.Offer.Mode = session.MAC
			r.Clear, _ = m.Append(nil) // a decoded message can be encoded
		}
	} else {
		r.Refused = refusalOf(err, "byte", "datagram", 0)
	}
	t := in.tree(r, b)
	t.walk("session-message", len(b), nil, nil)
	t.done("rest")
}

// learn keeps what a message of the handshake says of a connection.
func (in *Inspector) learn(from netip.AddrPort, m *session.Message) {
	switch m.Kind {
	case session.KindProof:
		o := in.offers[m.Nonce]
		if o.from == nil {
			o.from = map[netip.AddrPort]bool{}
		}
		o.offer, o.from[from] = m.Offer, true
		in.offers[m.Nonce] = o
	case session.KindLinked:
		o, ok := in.offers[m.Nonce]
		if !ok {
			return
		}
		l := in.links[m.Agreed.Link]
		if l == nil {
			l = in.newLink(o, m)
			in.links[m.Agreed.Link] = l
		}
		maps.Copy(l.asked, o.from)
	}
}

func (in *Inspector) newLink(o offered, m *session.Message) *link {
	l := &link{agreed: m.Agreed, mode: o.offer.Mode, ways: map[way]*[2]*session.Link{}, asked: map[netip.AddrPort]bool{}}
	keys, known := in.opts.Keys[m.Agreed.Link]
	if l.mode == session.CRC { // everybody on the path has these
		proof := session.Message{Kind: session.KindProof, Offer: o.offer}
		w, err := session.Work(session.Key{}, session.Key{}, session.Key{}, session.Share{}, &session.Message{Kind: session.KindChallenge}, &proof, m, &session.Message{Kind: session.KindRefused})
		keys, known = [2]session.Key{w.Keys.C2S, w.Keys.S2C}, err == nil
	}
	if known {
		l.keys = &keys
	}
	return l
}

// data inspects a datagram with an envelope.
func (in *Inspector) data(r *Result, from, to netip.AddrPort, m *session.Message, b []byte) {
	l := in.links[m.Agreed.Link]
	body, err := in.open(r, l, from, to, m, b)
	shown := append(append(b[:len(b)-len(m.Body)-len(m.Tag):len(b)-len(m.Body)-len(m.Tag)], body...), m.Tag...)
	if body == nil {
		shown = b
	}
	t := in.tree(r, shown)
	t.walk("session-message", len(b), nil, nil)
	tag, _ := t.cut("tag")
	switch {
	case err != nil:
		r.Refused = refusalOf(err, "byte", "datagram", 0)
	case body == nil && session.Mode(m.Kind) == session.AEAD:
		t.latest().Meaning = "encrypted"
	case body != nil:
		if in.opts.Clear && session.Mode(m.Kind) == session.AEAD {
			r.Clear = inClear(shown, m)
		}
		t.cut("body")
		to := len(b) - len(m.Tag)
		in.packet(r, t, to-len(m.Body), to, func(from, to int) {
			in.payload(r, t, from, to, in.formats(l, shown[from:to]), true)
		})
		t.rest("rest", to)
	}
	t.at = tag.Bit + tag.Bits
	t.add(tag)
	t.done("rest")
}

// macTag is how many bytes the tag of mode mac has.
const macTag = 8

// inClear returns a datagram that was opened as one of mode mac.
func inClear(opened []byte, m *session.Message) []byte {
	b := slices.Clone(opened[:len(opened)-len(m.Tag)+macTag])
	b[0] = byte(session.KindMAC)
	return b
}

// open opens the envelope of a datagram as far as that is possible. The body is nil if it cannot be read.
func (in *Inspector) open(r *Result, l *link, from, to netip.AddrPort, m *session.Message, b []byte) (body []byte, err error) {
	clear := m.Body
	if session.Mode(m.Kind) == session.AEAD {
		clear = nil
	}
	switch {
	case l == nil:
		r.note("the handshake of link %08x is not here: the tag was not checked", m.Agreed.Link)
		return clear, nil
	case l.keys == nil:
		r.note("the key of the connection is not given: the tag was not checked")
		return clear, nil
	}
	sides := l.sides(wayOf(from, to))
	for _, i := range l.directions(from, to) {
		var why error
		if body, why = sides[i].Open(nil, b); why == nil {
			r.holds.opened, r.holds.counter = true, sides[i].Opened()
			return body, nil
		}
		if err == nil || errors.Is(err, session.ErrTag) { // with the other direction's key the tag is invalid
			err = why
		}
	}
	return clear, err
}

// directions returns which of the two directions a datagram can have: both if neither address is known to be the
// client's.
func (l *link) directions(from, to netip.AddrPort) []int {
	switch {
	case !from.IsValid():
	case l.asked[from]:
		return []int{0}
	case l.asked[to]:
		return []int{1}
	}
	return []int{0, 1}
}
