package trace

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// modes are the modes by their names.
var modes = map[string]session.Mode{"crc": session.CRC, "mac": session.MAC, "aead": session.AEAD}

// Tenth is the unit of time-outs.
const Tenth = 100 * core.Millisecond

// random is the random bytes of a trace. Where there are none left the trace is a bad
// request.
type random struct{ left *bytes.Reader }

// errRandom is with what a machine panics then.
var errRandom = errors.New("no random bytes are left")

func (r random) Read(b []byte) (int, error) {
	if _, err := io.ReadFull(r.left, b); err != nil {
		panic(errRandom)
	}
	return len(b), nil
}

// enoughRandom turns that panic into an error.
func enoughRandom(err *error) {
	switch p := recover().(type) {
	case nil:
	case error:
		if !errors.Is(p, errRandom) {
			panic(p)
		}
		*err = fmt.Errorf("%w: %w", ErrBadRequest, p)
	default:
		panic(p)
	}
}

// sessionTerms returns what a config offers or agrees to, and its random bytes.
func sessionTerms(cfg contract.SessionConfig) (t session.Terms, r random, err error) {
	format, err1 := hex.DecodeString(cfg.Format)
	bits, err2 := hex.DecodeString(cfg.Random)
	if err := errors.Join(err1, err2); err != nil || len(format) != 8 {
		return t, r, ErrBadRequest
	}
	return session.Terms{
		Protocol: uint32(cfg.Protocol), Mode: modes[cfg.Mode], Lanes: int(cfg.Lanes), Variants: uint8(cfg.Variants),
		Extensions: uint16(cfg.Extensions), Timeout: core.Micros(cfg.Timeout) * Tenth, Format: [8]byte(format),
	}, random{bytes.NewReader(bits)}, nil
}

// identityOf and keyOf read an identity and a key.
func identityOf(text string) (uint64, error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 8 {
		return 0, ErrBadRequest
	}
	return binary.LittleEndian.Uint64(b), nil
}

func keyOf(text string) (session.Key, error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 32 {
		return session.Key{}, ErrBadRequest
	}
	return session.Key(b), nil
}

// RunSessionClient takes the client of a session through a trace. It fails with ErrUnsupported
// or ErrBadRequest.
func RunSessionClient(cfg contract.SessionClientConfig, events []contract.SessionClientEvent) (steps []contract.SessionClientStep, err error) {
	terms, bits, err := sessionTerms(cfg.SessionConfig)
	identity, err1 := identityOf(cfg.Identity)
	key, err2 := keyOf(cfg.Key)
	if err := errors.Join(err, err1, err2); err != nil {
		return nil, err
	}
	begins := int64(0)
	if len(events) > 0 {
		begins = events[0].At
	}
	defer enoughRandom(&err)
	c, err := session.NewClient(core.Micros(begins), session.ClientConfig{Terms: terms, Identity: identity, Key: key, Random: bits})
	if err != nil {
		return nil, fmt.Errorf("%w: the config: %w", ErrBadRequest, err)
	}
	steps = make([]contract.SessionClientStep, len(events))
	latest := int64(0)
	for i, e := range events {
		latest = max(latest, e.At)
		if err := sessionClientEvent(c, e, &steps[i]); err != nil {
			return nil, fmt.Errorf("%w: event %d, %q", err, i, e.Event)
		}
		steps[i].State, steps[i].Deadline = c.State().String(), notBefore(latest, c.Deadline())
		if c.State() == session.Closed {
			steps[i].Ended = sessionEnded(c.Err())
		}
	}
	return steps, nil
}

// notBefore is a deadline as steps have it: one that has passed is the latest time.
func notBefore(latest int64, at core.Micros) *int64 {
	return deadline(max(at, core.Micros(latest)))
}

// sessionEnded is why a client is CLOSED.
func sessionEnded(err error) *contract.SessionEnded {
	var refused *session.RefusedError
	switch {
	case errors.As(err, &refused):
		return &contract.SessionEnded{Why: contract.EndedRefused, Reason: int64(refused.Reason), Proven: refused.Proven}
	case errors.Is(err, session.ErrTimeout):
		return &contract.SessionEnded{Why: contract.EndedTimeout}
	}
	return &contract.SessionEnded{Why: contract.EndedClosed}
}

// sessionRefused is the refusal of a datagram as steps have it. What is only of no use is none.
func sessionRefused(err error) *contract.Refused {
	var e *session.Error
	if !errors.As(err, &e) || errors.Is(err, session.ErrUnexpected) || errors.Is(err, session.ErrCookie) || errors.Is(err, session.ErrStaleCookie) {
		return nil
	}
	return &contract.Refused{Error: string(e.Code()), At: e.Place()}
}

func sessionClientEvent(c *session.Client, e contract.SessionClientEvent, step *contract.SessionClientStep) error {
	step.Rows, step.Datagrams = []string{}, []string{}
	if e.At < 0 || e.At >= maxTime {
		return ErrBadRequest
	}
	now := core.Micros(e.At)
	switch e.Event {
	case contract.EventPoll:
		for more := true; more; {
			var datagram []byte
			if datagram, more = c.Poll(now, nil); more {
				step.Datagrams = append(step.Datagrams, hex.EncodeToString(datagram))
			}
			step.Rows = append(step.Rows, string(c.Row()))
		}
		return nil
	case contract.EventReceive:
		return sessionReceive(c, now, e, step)
	case contract.EventSent:
		c.Spoke(now)
		return nil
	case contract.EventData:
		if c.Link() == nil {
			return ErrBadRequest
		}
		c.Heard(now)
	case contract.EventMove:
		c.Move(now)
	case contract.EventClose:
		c.Close(now)
	default:
		return ErrUnsupported
	}
	step.Rows = append(step.Rows, string(c.Row()))
	return nil
}

// sessionReceive gives a client a message.
func sessionReceive(c *session.Client, now core.Micros, e contract.SessionClientEvent, step *contract.SessionClientStep) error {
	datagram, err := bytesOf(e.Hex)
	if err != nil {
		return err
	}
	m, err := session.Decode(datagram)
	if err == nil && m.Kind != session.KindChallenge && m.Kind != session.KindLinked && m.Kind != session.KindRefused {
		c.Receive(now, datagram) // which no server sends
		return nil
	}
	had := c.Link() != nil
	if step.Refused = sessionRefused(c.Receive(now, datagram)); step.Refused != nil {
		return nil
	}
	step.Rows = append(step.Rows, string(c.Row()))
	if l := c.Link(); l != nil && !had {
		a := l.Agreed()
		step.Link = &contract.SessionLink{
			Link: int64(a.Link), Lanes: int64(a.Lanes), Variant: int64(a.Variant), Extensions: int64(a.Extensions), Timeout: int64(a.Timeout / Tenth),
			Sealed: hex.EncodeToString(l.Seal(nil, []byte{0})),
		}
	}
	return nil
}

// RunSessionServer takes a server through a trace. It fails with ErrUnsupported or
// ErrBadRequest.
func RunSessionServer(cfg contract.SessionServerConfig, events []contract.SessionServerEvent) (steps []contract.SessionServerStep, err error) {
	defer enoughRandom(&err)
	r, err := newSessionServer(cfg)
	if err != nil {
		return nil, err
	}
	steps = make([]contract.SessionServerStep, len(events))
	latest := int64(0)
	for i, e := range events {
		latest = max(latest, e.At)
		if err := r.event(e, &steps[i]); err != nil {
			return nil, fmt.Errorf("%w: event %d, %q", err, i, e.Event)
		}
		stats := r.server.Stats()
		steps[i].Living, steps[i].Ended, steps[i].Deadline = int64(stats.Living), int64(stats.Ended), notBefore(latest, r.server.Deadline())
	}
	return steps, nil
}

// sessionServer is a server in a trace, with all entries that there ever were.
type sessionServer struct {
	server  *session.Server
	entries []*session.Entry
}

func newSessionServer(cfg contract.SessionServerConfig) (*sessionServer, error) {
	terms, bits, err := sessionTerms(cfg.SessionConfig)
	if err != nil {
		return nil, err
	}
	keys := map[uint64]session.Key{}
	for _, k := range cfg.Keys {
		identity, err1 := identityOf(k.Identity)
		key, err2 := keyOf(k.Key)
		if err := errors.Join(err1, err2); err != nil || identity == 0 {
			return nil, ErrBadRequest
		}
		keys[identity] = key
	}
	find := func(identity uint64) (session.Key, bool) {
		key, ok := keys[identity]
		return key, ok
	}
	s, err := session.NewServer(session.ServerConfig{
		Terms: terms, Keys: find, Anonymous: cfg.Anonymous, MaxConnections: int(cfg.MaxConnections), MaxPerAddress: int(cfg.MaxPerAddress), Random: bits,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: the config: %w", ErrBadRequest, err)
	}
	return &sessionServer{server: s}, nil
}

// find returns the entry of a link.
func (r *sessionServer) find(link *int64) (*session.Entry, error) {
	for _, e := range r.entries {
		if link != nil && e.ID() != 0 && int64(e.ID()) == *link {
			return e, nil
		}
	}
	return nil, ErrBadRequest
}

func (r *sessionServer) event(e contract.SessionServerEvent, step *contract.SessionServerStep) error {
	step.Rows = []string{}
	if e.At < 0 || e.At >= maxTime {
		return ErrBadRequest
	}
	now := core.Micros(e.At)
	switch e.Event {
	case contract.EventReceive:
		return r.receive(now, e, step)
	case contract.EventPoll:
		for {
			event, more := r.server.Poll(now)
			if !more {
				slices.Sort(step.Rows)
				return nil
			}
			row(step, event)
		}
	case contract.EventData, contract.EventEnd:
	default:
		return ErrUnsupported
	}
	entry, err := r.find(e.Link)
	switch {
	case err != nil:
		return err
	case e.Event == contract.EventData:
		row(step, r.server.Heard(now, entry))
	case e.Reason == nil:
		return ErrBadRequest
	default:
		row(step, r.server.End(now, entry, session.Reason(*e.Reason)))
	}
	step.Entry = sessionEntry(entry)
	return nil
}

// row notes the row that was taken, if one was.
func row(step *contract.SessionServerStep, event session.Event) {
	if event.Row != "" {
		step.Rows = append(step.Rows, string(event.Row))
	}
}

func sessionEntry(e *session.Entry) *contract.SessionEntry {
	address := e.Address()
	return &contract.SessionEntry{Link: int64(e.ID()), State: e.State().String(), Address: hex.EncodeToString(address[:])}
}

func (r *sessionServer) receive(now core.Micros, e contract.SessionServerEvent, step *contract.SessionServerStep) error {
	datagram, err := bytesOf(e.Hex)
	if err != nil || e.From == nil {
		return ErrBadRequest
	}
	_, undecodable := session.Decode(datagram)
	step.Refused = sessionRefused(undecodable)
	answer, event, err := r.server.Receive(now, session.AddressOfText(*e.From), datagram, nil)
	row(step, event)
	if len(answer) > 0 {
		text := hex.EncodeToString(answer)
		step.Answer = &text
	}
	for _, code := range []error{session.ErrCookie, session.ErrStaleCookie} {
		var refused *session.Error
		if errors.Is(err, code) && errors.As(err, &refused) {
			text := string(refused.Code())
			step.Counted = &text
		}
	}
	if event.Entry == nil {
		return nil
	}
	step.Entry = sessionEntry(event.Entry)
	if event.Kind == session.EventMade {
		r.entries = append(r.entries, event.Entry)
		sealed := hex.EncodeToString(event.Entry.Link().Seal(nil, []byte{0}))
		step.Entry.Sealed = &sealed
	}
	return nil
}
