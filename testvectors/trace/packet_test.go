package trace_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/trace"
)

var usual = contract.EndpointConfig{FragmentSize: 4, MaxFragments: 4, FragmentAbove: 4}

func endpointEvents(t *testing.T, text string) (list []contract.EndpointEvent) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// An endpoint sends, is acked, receives, answers and loses; each step says what it did
// (PKO-4, PKO-5).
func TestEndpointTrace(t *testing.T) {
	steps, err := trace.RunEndpoint(usual, endpointEvents(t, `[
		{"at":0,"event":"send","payload":"0102030405"},
		{"at":1,"event":"send","payload":""},
		{"at":2,"event":"send","payload":"07"},
		{"at":5,"event":"receive","datagram":"3e000000010000002a"},
		{"at":6,"event":"receive","datagram":"3e000000010000002a"},
		{"at":7,"event":"receive","datagram":"20"},
		{"at":20005,"event":"poll"},
		{"at":1000002,"event":"poll"}]`))
	if err != nil {
		t.Fatal(err)
	}
	none := []uint16{}
	want := []contract.EndpointStep{
		{Datagrams: []string{"01000000013e0000010000000001020304", "010000010105"}, Acked: none, Lost: none},
		{Datagrams: []string{}, Acked: none, Lost: none, Refused: &contract.Refused{Error: "payload_size", At: -1}},
		{Datagrams: []string{"3e0100020000000007"}, Acked: none, Lost: none},
		{Datagrams: []string{}, Acked: []uint16{0}, Lost: none, Delivered: &contract.Delivered{Sequence: 0, Payload: "2a"}},
		{Datagrams: []string{}, Acked: none, Lost: none, Refused: &contract.Refused{Error: "duplicate", At: -1}},
		{Datagrams: []string{}, Acked: none, Lost: none, Refused: &contract.Refused{Error: "truncated", At: 1}},
		{Datagrams: []string{"3e0200020100000000"}, Acked: none, Lost: none},
		{Datagrams: []string{}, Acked: none, Lost: []uint16{1}},
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Error(diff)
	}
}

func TestEndpointTraceRefuses(t *testing.T) {
	for text, want := range map[string]error{
		`[{"at":0,"event":"close"}]`:                               trace.ErrUnsupported,
		`[{"at":0,"event":"send"}]`:                                trace.ErrBadRequest,
		`[{"at":0,"event":"receive"}]`:                             trace.ErrBadRequest,
		`[{"at":0,"event":"receive","datagram":"0"}]`:              trace.ErrBadRequest,
		`[{"at":-1,"event":"poll"}]`:                               trace.ErrBadRequest,
		`[{"at":4611686018427387904,"event":"poll"}]`:              trace.ErrBadRequest,
		`[{"at":0,"event":"poll"},{"at":0,"event":"send"}]`:        trace.ErrBadRequest,
		`[{"at":0,"event":"read"},{"at":0,"event":"send"}]`:        trace.ErrUnsupported,
		`[{"at":4611686018427387903,"event":"send","payload":""}]`: nil,
	} {
		if _, err := trace.RunEndpoint(usual, endpointEvents(t, text)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
	for name, change := range map[string]func(*contract.EndpointConfig){
		"no fragment_size":        func(c *contract.EndpointConfig) { c.FragmentSize = 0 },
		"no max_fragments":        func(c *contract.EndpointConfig) { c.MaxFragments = 0 },
		"one fragment":            func(c *contract.EndpointConfig) { c.MaxFragments = 1 },
		"no fragment_above":       func(c *contract.EndpointConfig) { c.FragmentAbove = 0 },
		"a small fragment_above":  func(c *contract.EndpointConfig) { c.FragmentAbove = 3 },
		"next_to_send":            func(c *contract.EndpointConfig) { c.NextToSend = 1<<32 + 1 },
		"next_to_receive":         func(c *contract.EndpointConfig) { c.NextToReceive = 1<<32 + 1 },
		"negative next_to_send":   func(c *contract.EndpointConfig) { c.NextToSend = -1 },
		"a fragment_size of 1161": func(c *contract.EndpointConfig) { c.FragmentSize, c.FragmentAbove = 1161, 1161 },
	} {
		cfg := usual
		change(&cfg)
		if _, err := trace.RunEndpoint(cfg, nil); !errors.Is(err, trace.ErrBadRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Congestion avoidance by its profile: the smallest round trip counts in one of them
// (PKC-4, PKO-6).
func TestCongestionTrace(t *testing.T) {
	srtt := int64(600_000)
	events := []contract.CongestionEvent{{At: 0, SRTT: &srtt, MinRTT: srtt}, {At: 4_000_000, SRTT: &srtt, MinRTT: srtt}, {At: 5_000_000, Silent: true}}
	for profile, want := range map[string][]contract.CongestionStep{
		contract.ProfileArticle: {{Mode: "bad", Recovery: 4_000_000}, {Mode: "bad", Recovery: 4_000_000}, {Mode: "bad", Recovery: 4_000_000}},
		contract.ProfileDefault: {{Mode: "bad", Recovery: 4_000_000}, {Mode: "good", Recovery: 4_000_000}, {Mode: "bad", Recovery: 8_000_000}},
	} {
		steps, err := trace.RunCongestion(contract.CongestionConfig{Profile: profile}, events)
		if diff := cmp.Diff(want, steps); err != nil || diff != "" {
			t.Errorf("%s: %v, %s", profile, err, diff)
		}
	}
	if _, err := trace.RunCongestion(contract.CongestionConfig{Profile: "best"}, nil); !errors.Is(err, trace.ErrBadRequest) {
		t.Error(err)
	}
	negative, long := int64(-1), int64(1<<40+1)
	for _, e := range []contract.CongestionEvent{{At: -1}, {At: 1 << 62}, {SRTT: &negative}, {SRTT: &long}, {MinRTT: -1}, {MinRTT: long}} {
		if _, err := trace.RunCongestion(contract.CongestionConfig{Profile: contract.ProfileArticle}, []contract.CongestionEvent{e}); !errors.Is(err, trace.ErrBadRequest) {
			t.Errorf("%+v: %v", e, err)
		}
	}
}
