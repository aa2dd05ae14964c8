package eventlog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/logtest"
	"github.com/chunkwire/chunkwire/eventlog"
)

var header = eventlog.Header{Title: "chunkwire simulate", By: "chunkwire 0.1.0", View: eventlog.Network}

// A file in the words of the format.
func TestFile(t *testing.T) {
	file := logtest.File(header,
		eventlog.Event{Kind: eventlog.ChunkStarted, At: 5, Group: 1, End: eventlog.Client, ChunkID: 7, Bytes: 3000, NumSlices: 3, Direction: eventlog.Out},
		eventlog.Event{Kind: eventlog.SliceSent, At: 12_345, End: eventlog.Sender, Lane: 2, SliceID: 1, Bytes: 1037, Times: 2, Why: eventlog.Lost},
		eventlog.Event{Kind: eventlog.State, At: 1e6, Machine: "session-client", From: "LINKING", To: "CLOSED", Row: "I1"},
		eventlog.Event{Kind: eventlog.State, At: 1e6, Machine: "sender", From: "IDLE", To: "SENDING", Row: "S1"},
		eventlog.Event{Kind: eventlog.DatagramDropped, At: 1e6, Direction: eventlog.Up, Why: "loss", Bytes: 60, Carried: "ack"},
	)
	check.Equal(t, "records", logtest.RecordsOf(file), []string{
		`{"file_schema":"urn:ietf:params:qlog:file:sequential","serialization_format":"application/qlog+json-seq","title":"chunkwire simulate","trace":{"vantage_point":{"name":"chunkwire 0.1.0","type":"network"},"common_fields":{"time_format":"relative_to_epoch","reference_time":{"clock_type":"monotonic","epoch":"unknown"}},"event_schemas":["urn:chunkwire:events:chunkwire-1"]}}`,
		`{"time":0.005,"name":"chunkwire:chunk_started","group_id":"1","end":"client","data":{"lane":0,"chunk":7,"bytes":3000,"slices":3,"direction":"out"}}`,
		`{"time":12.345,"name":"chunkwire:slice_sent","end":"sender","data":{"lane":2,"chunk":0,"slice":1,"bytes":1037,"times":2,"why":"lost"}}`,
		`{"time":1000.000,"name":"chunkwire:state","data":{"machine":"session-client","from":"LINKING","to":"CLOSED","row":"I1"}}`,
		`{"time":1000.000,"name":"chunkwire:state","data":{"machine":"sender","lane":0,"from":"IDLE","to":"SENDING","row":"S1"}}`,
		`{"time":1000.000,"name":"chunkwire:datagram_dropped","data":{"direction":"up","why":"loss","bytes":60,"carried":"ack","lane":0,"chunk":0}}`,
	})
	f := logtest.Read(t, file)
	check.Equal(t, "header", f.Header, header)
	check.That(t, len(f.Events) == 5, "five events")
}

// What is written is read.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := eventlog.Header{Title: rapid.String().Draw(t, "title"), By: "chunkwire", View: eventlog.Server, Wall: time.UnixMicro(rapid.Int64Range(0, 1<<50).Draw(t, "wall")).UTC()}
		events := rapid.SliceOf(eventlog.Drawn()).Draw(t, "events")
		f, err := eventlog.Read(bytes.NewReader(logtest.File(h, events...)))
		if err != nil {
			t.Fatalf("read: %v", err)
		}
		check.Equal(t, "header", f.Header, h)
		check.That(t, len(events) == len(f.Events), "as many events")
		for i := range events {
			check.Equal(t, "event", f.Events[i], events[i])
		}
	})
}

// Readers ignore what they do not know.
func TestUnknown(t *testing.T) {
	file := string(logtest.File(header)) +
		"\x1e{\"time\":1,\"name\":\"chunkwire:slice_lost\",\"more\":[],\"data\":{\"lane\":0,\"chunk\":1,\"slice\":2,\"why\":\"overtaken\",\"color\":{}}}\n" +
		"\x1e{\"time\":2.5,\"name\":\"chunkwire:slice_painted\",\"data\":{}}\n\x1e{\"name\":\"other:state\"}\n"
	f, err := eventlog.Read(strings.NewReader(file))
	check.That(t, err == nil && f.Unknown == 2, "two events are unknown")
	check.Equal(t, "events", f.Events, []eventlog.Event{{Kind: eventlog.SliceLost, At: 1000, ChunkID: 1, SliceID: 2, Why: eventlog.Overtaken}})
}

func TestReadRefuses(t *testing.T) {
	head := string(logtest.File(header))
	record := func(text string) string { return head + "\x1e" + text + "\n" }
	for name, file := range map[string]string{
		"nothing":               "",
		"another file":          "\x89PNG\r\n",
		"another schema":        "\x1e{\"file_schema\":\"urn:x\"}\n",
		"no start":              head + "{}\n",
		"no end":                head + "\x1e{}",
		"no JSON":               record("{"),
		"an empty record":       record(""),
		"two values":            record("{} {}"),
		"too long":              record(strings.Repeat(" ", eventlog.MaxRecord) + "{}"),
		"no time":               record(`{"name":"chunkwire:packet_lost","data":{"number":1}}`),
		"a time of text":        record(`{"time":"x","name":"chunkwire:packet_lost","data":{"number":1}}`),
		"a time too large":      record(`{"time":1e300,"name":"chunkwire:packet_lost","data":{"number":1}}`),
		"a group that is none":  record(`{"time":1,"group_id":"x","name":"chunkwire:packet_lost","data":{"number":1}}`),
		"without a member":      record(`{"time":1,"name":"chunkwire:packet_lost","data":{}}`),
		"a member of text":      record(`{"time":1,"name":"chunkwire:packet_lost","data":{"number":"1"}}`),
		"a member null":         record(`{"time":1,"name":"chunkwire:packet_lost","data":{"number":null}}`),
		"a chunk beyond 16 bit": record(`{"time":1,"name":"chunkwire:slice_spurious","data":{"lane":0,"chunk":65536,"slice":0}}`),
		"a wall clock of text":  "\x1e" + strings.Replace(strings.Trim(head, "\x1e\n"), `"epoch":"unknown"`, `"wall_clock_time":"noon"`, 1) + "\n",
	} {
		if _, err := eventlog.Read(strings.NewReader(file)); !errors.Is(err, eventlog.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The schema has the members of the table, and the same of them are required.
func TestSchemaIsTheTable(t *testing.T) {
	var schema struct {
		OneOf []struct {
			Title      string
			Properties struct {
				Name struct{ Const string }
				Data struct {
					Properties map[string]any
					Required   []string
				}
			}
		}
	}
	check.That(t, json.Unmarshal(eventlog.Schema, &schema) == nil, "JSON")
	got := map[string]map[string]bool{}
	for _, e := range schema.OneOf {
		check.Equal(t, "name", e.Properties.Name.Const, "chunkwire:"+e.Title)
		got[e.Title] = map[string]bool{}
		for name := range e.Properties.Data.Properties {
			got[e.Title][name] = false
		}
		for _, name := range e.Properties.Data.Required {
			got[e.Title][name] = true
		}
	}
	check.Equal(t, "required members", got, eventlog.Members())
}

// A writer that nobody waits for: what does not fit is dropped, and the file says so.
func TestWriterDrops(t *testing.T) {
	disk := &slowDisk{begun: make(chan bool, 1), goOn: make(chan bool)}
	w := eventlog.NewWriter(disk, header)
	<-disk.begun
	const more = 50_000
	for i := range more {
		w.Log(eventlog.Event{Kind: eventlog.SliceSent, At: 1000, SliceID: i % 256, Bytes: 1037, Times: 1, Why: eventlog.First})
	}
	dropped := w.Dropped()
	check.That(t, dropped > 0 && dropped < more, "some are dropped")
	close(disk.goOn)
	for range 2 {
		check.That(t, w.Close() == nil, "closed")
	}
	w.Log(eventlog.Event{Kind: eventlog.PacketLost})
	f := logtest.Read(t, disk.Bytes())
	check.Equal(t, "events", int64(len(f.Events)), more-dropped+1)
	check.Equal(t, "last", f.Events[len(f.Events)-1], eventlog.Event{Kind: eventlog.LogDropped, At: 1000, Count: dropped})
}

// slowDisk waits with the first write.
type slowDisk struct {
	bytes.Buffer
	begun, goOn chan bool
}

func (d *slowDisk) Write(b []byte) (int, error) {
	select {
	case d.begun <- true:
	default:
	}
	<-d.goOn
	return d.Buffer.Write(b)
}

func TestWriterFails(t *testing.T) {
	full := errors.New("the disk is full")
	w := eventlog.NewWriter(failing{full}, header)
	err := w.Close()
	w.Log(eventlog.Event{})
	check.That(t, errors.Is(err, full) && w.Dropped() == 1, "it fails")
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

// A log in a lane, or of a connection, is none if there is none.
func TestLog(t *testing.T) {
	var none eventlog.Log
	check.That(t, none.In(1) == nil && none.Of(1, eventlog.Client) == nil, "no log")
	var seen []eventlog.Event
	log := eventlog.Log(func(e eventlog.Event) { seen = append(seen, e) }).Of(3, eventlog.Server)
	log.In(0)(eventlog.Event{})
	log.In(2)(eventlog.Event{})
	check.Equal(t, "events", seen, []eventlog.Event{{Group: 3, End: eventlog.Server}, {Group: 3, End: eventlog.Server, Lane: 2}})
}

// An event is written without an allocation.
func TestAppendAllocates(t *testing.T) {
	e := eventlog.Event{Kind: eventlog.SliceSent, At: 12_345, Group: 1, End: eventlog.Client, SliceID: 1, Bytes: 1037, Times: 2, Why: eventlog.Lost}
	buffer := make([]byte, 0, 1024)
	check.Equal(t, "allocations", testing.AllocsPerRun(100, func() { buffer = eventlog.Append(buffer[:0], &e) }), 0)
}
