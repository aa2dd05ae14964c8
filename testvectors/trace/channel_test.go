package trace_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/trace"
)

var (
	small    = contract.ChannelFormat{Window: 32, Data: 4, Group: 4}
	receives = contract.ChannelReceiverConfig{Kind: contract.KindOrdered, ChannelFormat: small, First: 65535, GiveUp: 1_000_000}
	sends    = contract.ChannelSenderConfig{ChannelFormat: small, SendQueue: 4, First: 65535, GiveUp: 1_000_000}
)

func eventsOf[E any](t *testing.T, text string) (list []E) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// asText is what steps are in a response.
func asText(t *testing.T, steps any) string {
	t.Helper()
	text, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A receiver takes, delivers, skips and reports; each step says what it did (CHO-7, CHO-8,
// CHO-11).
func TestChannelReceiverTrace(t *testing.T) {
	steps, err := trace.RunChannelReceiver(receives, eventsOf[contract.ChannelReceiverEvent](t, `[
		{"at":0,"event":"record","hex":"0200ffff02000102"},{"at":1,"event":"read"},{"at":2,"event":"record","hex":"0400000000"},{"at":2,"event":"read"},
		{"at":3,"event":"path","srtt":80000},{"at":20000,"event":"poll","space":7}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"row":"V5","state":"OPEN","read":null,"report":null,"deadline":20000},` +
		`{"row":"V11","state":"OPEN","read":{"sequence":65535,"data":"0102"},"report":null,"deadline":20000},` +
		`{"row":"V8","state":"OPEN","read":null,"report":null,"deadline":20000},` +
		`{"row":"V11","state":"OPEN","read":{"sequence":0,"skipped":true},"report":null,"deadline":20000},` +
		`{"row":null,"state":"OPEN","read":null,"report":null,"deadline":20000},` +
		`{"row":"V14","state":"OPEN","read":null,"report":"05000100200000","deadline":null}]`
	if diff := cmp.Diff(want, asText(t, steps)); diff != "" {
		t.Error(diff)
	}
}

// A sender takes, refuses, sends and gives up; a poll of a trace is polled until no record
// comes (CHO-9, CHO-10, CHO-11).
func TestChannelSenderTrace(t *testing.T) {
	steps, err := trace.RunChannelSender(sends, eventsOf[contract.ChannelSenderEvent](t, `[
		{"at":0,"event":"path","srtt":80000,"patience":0},{"at":0,"event":"send","data":"0102","lifetime":null},{"at":0,"event":"send","data":"","lifetime":5},
		{"at":1,"event":"poll","number":0,"space":20},{"at":2,"event":"report","hex":"05000000200000","number":0,"ack":-1},
		{"at":3,"event":"send","data":"03","lifetime":9},{"at":1000003,"event":"poll","number":1,"space":20}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"rows":[],"state":"OPEN","refused":null,"records":[],"base":65535,"limit":65567,"deadline":null},` +
		`{"rows":["D3"],"state":"OPEN","refused":null,"records":[],"base":65535,"limit":65567,"deadline":0},` +
		`{"rows":["D1"],"state":"OPEN","refused":"message_size","records":[],"base":65535,"limit":65567,"deadline":0},` +
		`{"rows":["D8","D10"],"state":"OPEN","refused":null,"records":["0200ffff02000102"],"base":65535,"limit":65567,"deadline":120001},` +
		`{"rows":["D6"],"state":"OPEN","refused":null,"records":[],"base":65536,"limit":65568,"deadline":null},` +
		`{"rows":["D3"],"state":"OPEN","refused":null,"records":[],"base":65536,"limit":65568,"deadline":3},` +
		`{"rows":["D7"],"state":"FAILED","refused":null,"records":[],"base":65536,"limit":65568,"deadline":null}]`
	if diff := cmp.Diff(want, asText(t, steps)); diff != "" {
		t.Error(diff)
	}
}

// What a trace of channels cannot have (CHO-12).
func TestChannelTracesRefuse(t *testing.T) {
	for text, want := range map[string]error{
		`{"at":0,"event":"flush"}`: trace.ErrUnsupported, `{"at":-1,"event":"read"}`: trace.ErrBadRequest, `{"at":4611686018427387904,"event":"read"}`: trace.ErrBadRequest,
		`{"at":0,"event":"record"}`: trace.ErrBadRequest, `{"at":0,"event":"record","hex":"0"}`: trace.ErrBadRequest, `{"at":0,"event":"record","hex":"00"}`: trace.ErrBadRequest,
		`{"at":0,"event":"record","hex":"06010100"}`: trace.ErrBadRequest, `{"at":0,"event":"record","hex":"0600010006000100"}`: trace.ErrBadRequest,
		`{"at":0,"event":"record","hex":"05000000200000"}`: trace.ErrBadRequest, `{"at":0,"event":"poll"}`: trace.ErrBadRequest, `{"at":0,"event":"poll","space":65536}`: trace.ErrBadRequest,
		`{"at":0,"event":"path"}`: trace.ErrBadRequest, `{"at":0,"event":"path","srtt":-1}`: trace.ErrBadRequest, `{"at":4611686018427387903,"event":"poll","space":65535}`: nil,
	} {
		if _, err := trace.RunChannelReceiver(receives, eventsOf[contract.ChannelReceiverEvent](t, "["+text+"]")); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
	for text, want := range map[string]error{
		`{"at":0,"event":"read"}`: trace.ErrUnsupported, `{"at":-1,"event":"poll","number":0,"space":0}`: trace.ErrBadRequest,
		`{"at":0,"event":"send","lifetime":null}`: trace.ErrBadRequest, `{"at":0,"event":"send","data":"61"}`: trace.ErrBadRequest, `{"at":0,"event":"send","data":"61","lifetime":0}`: trace.ErrBadRequest,
		`{"at":0,"event":"report","hex":"05000000200000","number":0}`: trace.ErrBadRequest, `{"at":0,"event":"report","hex":"05000000200000","number":-1,"ack":0}`: trace.ErrBadRequest,
		`{"at":0,"event":"report","hex":"06000000","number":0,"ack":0}`: trace.ErrBadRequest, `{"at":0,"event":"report","hex":"05000000200000","number":4294967296,"ack":4294967296}`: nil,
		`{"at":0,"event":"poll","number":0}`: trace.ErrBadRequest, `{"at":0,"event":"poll","number":4294967297,"space":0}`: trace.ErrBadRequest,
		`{"at":0,"event":"path","srtt":null}`: trace.ErrBadRequest, `{"at":0,"event":"path","patience":0}`: trace.ErrBadRequest, `{"at":0,"event":"path","srtt":1099511627777,"patience":0}`: trace.ErrBadRequest,
	} {
		if _, err := trace.RunChannelSender(sends, eventsOf[contract.ChannelSenderEvent](t, "["+text+"]")); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
	for name, change := range map[string]func(*contract.ChannelReceiverConfig){
		"kind": func(c *contract.ChannelReceiverConfig) { c.Kind = "unreliable" }, "no window": func(c *contract.ChannelReceiverConfig) { c.Window = 0 },
		"no data": func(c *contract.ChannelReceiverConfig) { c.Data = 0 }, "no group": func(c *contract.ChannelReceiverConfig) { c.Group = 0 },
		"window": func(c *contract.ChannelReceiverConfig) { c.Window = 48 }, "first": func(c *contract.ChannelReceiverConfig) { c.First = -1 }, "no give_up": func(c *contract.ChannelReceiverConfig) { c.GiveUp = 0 },
	} {
		cfg := receives
		change(&cfg)
		if _, err := trace.RunChannelReceiver(cfg, nil); !errors.Is(err, trace.ErrBadRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, queue := range []int64{0, 3, 32769} {
		cfg := sends
		cfg.SendQueue = queue
		if _, err := trace.RunChannelSender(cfg, nil); !errors.Is(err, trace.ErrBadRequest) {
			t.Errorf("send_queue %d: %v", queue, err)
		}
	}
}
