package main

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/connections"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/oracle/connectionoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// connectionStage is one end of a connection in a script, and a peer that sends what the script
// says and acks what it gets.
type connectionStage struct {
	*conform.Recorded
	cfg connections.Config

	peer   *packetoracle.Endpoint
	opener *sessionoracle.Receiver
	sealer sessionoracle.Direction
	sealed int64
	last   []byte // the datagram that the peer sent last
}

// connectionEndpoint adds a trace of one end of a connection.
func (g *group) connectionEndpoint(s script.Script) error { return staged(g, s, newConnectionStage) }

func (t *connectionStage) recorded() *conform.Recorded { return t.Recorded }

func newConnectionStage(with map[string]string) (*connectionStage, error) {
	cfg, err := script.ConnectionConfig(with)
	if err != nil {
		return nil, err
	}
	if cfg.Side == "" {
		cfg.Side = connections.Client
	}
	cfg = cfg.Sided(cfg.Side, clientKey, serverKey)
	r, err := connections.Op.Record(cfg)
	return &connectionStage{
		Recorded: r, cfg: cfg,
		peer:   packetoracle.New(packetoracle.Config{Limits: usualLimits, FragmentAbove: connectionoracle.Payload, Profile: "default"}),
		opener: sessionoracle.NewReceiver(sessionoracle.Direction{Mode: cfg.Mode, Key: []byte(cfg.SendKey), Link: cfg.Link}),
		sealer: sessionoracle.Direction{Mode: cfg.Mode, Key: []byte(cfg.ReceiveKey), Link: cfg.Link},
	}, err
}

func (t *connectionStage) line(line script.Said) error {
	var got []string
	figures := map[string]string{}
	for i, at := range line.Times {
		list, err := t.event(at, i, line)
		if err != nil {
			return fmt.Errorf("%q: %w", line.Text, err)
		}
		for _, e := range list {
			step := t.Do(at, e).(connections.Step)
			words, err := t.describe(at, step, slices.Contains(line.Args, "lost"))
			if err != nil {
				return fmt.Errorf("%q: %w", line.Text, err)
			}
			got = append(got, words...)
			figures["state"], figures["ended"], figures["@"] = step.State, connectionEndedText(step.Ended), deadlineText(step.Deadline)
			figures["refused"] = refusedText(conform.Opt[sessions.Refused]{Is: step.Refused.Is, V: sessions.Refused(step.Refused.V)})
			if step.ECN.Is {
				figures["marked"] = fmt.Sprint(step.ECN.V.Marked)
			}
		}
	}
	return line.Check(got, figures)
}

func connectionEndedText(e conform.Opt[connections.Ended]) string {
	switch {
	case !e.Is:
		return "no"
	case !e.V.Code.Is:
		return e.V.Why
	}
	return fmt.Sprintf("%d:%s:%s", e.V.Code.V, e.V.Text.V, map[bool]string{true: "remote", false: "local"}[e.V.Remote.V])
}

// event returns the events of a line at a time.
func (t *connectionStage) event(at int64, i int, line script.Said) (list []conform.Event, err error) {
	number := func(n int) (v int64) {
		if n < len(line.Args) {
			v, _ = strconv.ParseInt(line.Args[n], 10, 64)
		}
		return v
	}
	switch line.Event {
	case "send":
		e := connections.Send{Channel: number(0), Data: conform.Bytes(conform.Content(len(t.Events), int(number(1))))}
		if life, ok := line.With["life"]; ok {
			e.Lifetime.Is = true
			e.Lifetime.V, err = script.Time(life)
		}
		return []conform.Event{e}, err
	case "read":
		return []conform.Event{connections.Read{Channel: number(0)}}, nil
	case "send_chunk":
		return []conform.Event{connections.SendChunk{Size: number(0)}}, nil
	case "close":
		return []conform.Event{connections.Close{Code: number(0), Text: strings.Join(line.Args[min(1, len(line.Args)):], " ")}}, nil
	case "poll":
		return []conform.Event{connections.Poll{}}, nil
	case "read_chunk":
		return []conform.Event{connections.ReadChunk{}}, nil
	}
	datagrams, err := t.datagrams(at, i, line)
	for _, b := range datagrams {
		list = append(list, connections.Receive{Hex: conform.Bytes(b), ECN: line.With["ecn"]})
	}
	return list, err
}

// datagrams is what the peer sends: a packet of records, or something else.
func (t *connectionStage) datagrams(at int64, i int, line script.Said) ([][]byte, error) {
	switch line.Event {
	case "again":
		return [][]byte{t.last}, nil
	case "forged":
		return [][]byte{with(t.last, len(t.last)-1, t.last[len(t.last)-1]^1)}, nil
	case "raw":
		b, err := hex.DecodeString(line.Args[0])
		return [][]byte{b}, err
	case "body":
		b, err := hex.DecodeString(line.Args[0])
		return [][]byte{t.seal(b)}, err
	case "packet":
		payload, err := t.payload(i, line.Args)
		if err != nil {
			return nil, err
		}
		var list [][]byte
		for _, body := range t.peer.Send(at, payload).Datagrams {
			list = append(list, t.seal(body))
		}
		return list, nil
	}
	return nil, fmt.Errorf("no event %q", line.Event)
}

func (t *connectionStage) seal(body []byte) []byte {
	t.last = t.sealer.Seal(t.sealed, body)
	t.sealed++
	return t.last
}

// payload reads records: pad, close:CODE:TEXT, m:CHANNEL:SEQUENCE:SIZE, u:CHANNEL:SIZE,
// r:CHANNEL:BASE/ROOM, st:CHANNEL:NEXT, s:LANE:CHUNK:ID/NUM:SIZE, a:LANE:CHUNK:BITS,
// e:ARRIVED:CONGESTED, or x:PAYLOAD. A # is the number of the event.
func (t *connectionStage) payload(i int, words []string) ([]byte, error) {
	var list []connectionoracle.Record
	for _, word := range words {
		word = strings.ReplaceAll(word, "#", strconv.Itoa(i))
		part := strings.Split(word, ":")
		number := func(n int) int64 {
			v := int64(0)
			if n < len(part) {
				v, _ = strconv.ParseInt(strings.Split(part[n], "/")[0], 10, 64)
			}
			return v
		}
		behind := func(n int) int64 {
			_, text, _ := strings.Cut(part[n], "/")
			v, _ := strconv.ParseInt(text, 10, 64)
			return v
		}
		switch part[0] {
		case "pad":
			list = append(list, ofChannel(pad))
		case "close":
			list = append(list, closeRecord(number(1), part[2]))
		case "m":
			list = append(list, ofChannel(message(number(1), number(2), conform.Content(int(number(2)), int(number(3))))))
		case "u":
			list = append(list, ofChannel(unreliable(number(1), conform.Content(i, int(number(2))))))
		case "r":
			list = append(list, ofChannel(report(number(1), number(2), behind(2))))
		case "st":
			list = append(list, ofChannel(status(number(1), number(2))))
		case "s":
			if t.cfg.Profile.Rule.Is {
				list = append(list, arrivingRepairSlice(number(1), number(2), number(3), behind(3), number(4)))
				continue
			}
			list = append(list, sliceRecord(number(1), slice(number(2), number(3), behind(3), sample(int(number(4))))))
		case "a":
			if t.cfg.Profile.Rule.Is {
				list = append(list, repairRecord(number(1), repairAckOf(number(2), behind(3), number(3), number(4))))
				continue
			}
			list = append(list, ackRecord(number(1), ack(number(2), bitsIn(part[3]))))
		case "e":
			list = append(list, ecnRecord(number(1), number(2)))
		case "x":
			return hex.DecodeString(part[1])
		default:
			return nil, fmt.Errorf("no record %q", word)
		}
	}
	return connectionoracle.Encode(formatOfConnection(16, t.cfg.Variant, t.cfg.Extensions), list)
}

// describe writes a step as scripts do. What was not lost is given to the peer.
func (t *connectionStage) describe(at int64, step connections.Step, lost bool) (got []string, err error) {
	sent, ect := step.Datagrams, make([]bool, len(step.Datagrams))
	if step.ECN.Is {
		ect = step.ECN.V.ECT
	}
	for _, row := range step.Rows {
		if slices.Contains([]string{"K7", "K13", "K18"}, row) {
			text, err := t.sent(at, []byte(sent[0]), lost)
			if err != nil {
				return nil, err
			}
			if ect[0] {
				text = "ect:" + text
			}
			sent, ect = sent[1:], ect[1:]
			row += ">" + text
		}
		got = append(got, row)
	}
	got = counted(got)
	switch r := step.Read; {
	case !r.Is:
	case r.V.Skipped:
		got = append(got, fmt.Sprintf("!%d", r.V.Sequence))
	default:
		got = append(got, fmt.Sprintf("<%d:%d", r.V.Sequence, len(r.V.Data.V)))
	}
	if step.Chunk.Is {
		got = append(got, fmt.Sprintf("chunk:%d", step.Chunk.V.Size))
	}
	return got, nil
}

// sent writes a datagram of the end.
func (t *connectionStage) sent(at int64, datagram []byte, lost bool) (string, error) {
	_, body, err := t.opener.Open(datagram)
	if err != nil {
		return "", err
	}
	if !lost {
		t.peer.Receive(at, body)
	}
	p, err := packetoracle.Decode(usualLimits, body)
	if err != nil {
		return "", err
	}
	if p.IsFragment {
		return fmt.Sprintf("fragment:%d/%d", p.ID, p.Count), nil
	}
	records, err := connectionoracle.Decode(formatOfConnection(16, t.cfg.Variant, t.cfg.Extensions), p.Data)
	if err != nil {
		return "", err
	}
	var words []string
	for _, r := range records {
		words = append(words, recordWord(r))
	}
	return strings.Join(counted(words), "+"), nil
}

// counted writes words that follow each other and are the same as WORD*COUNT.
func counted(words []string) (list []string) {
	for i := 0; i < len(words); {
		n := 1
		for i+n < len(words) && words[i+n] == words[i] {
			n++
		}
		if n > 1 {
			list = append(list, fmt.Sprintf("%s*%d", words[i], n))
		} else {
			list = append(list, words[i])
		}
		i += n
	}
	return list
}

// recordWord writes a record, with its channel or lane.
func recordWord(r connectionoracle.Record) string {
	switch r.Type {
	case connectionoracle.Close:
		return fmt.Sprintf("CLOSE:%d:%s", r.Code, r.Text)
	case connectionoracle.Slice:
		return fmt.Sprintf("slice%d.%d", r.Lane, r.Packet.SliceID+r.Repair.SliceID) // one of them is zero
	case connectionoracle.ChunkAck:
		return fmt.Sprintf("ack%d", r.Lane)
	case connectionoracle.ECN:
		return fmt.Sprintf("ecn:%d:%d", r.Arrived, r.Congested)
	}
	if r.Channel.Type == channeloracle.Pad {
		return "PAD"
	}
	return fmt.Sprintf("%s%d", r.Channel.Type, r.Channel.Channel)
}
