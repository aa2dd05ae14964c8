package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/live/reliable"
	"github.com/chunkwire/chunkwire/testvectors/port"
)

// recording is a line of recorded.jsonl: what was put to reliable 1.4.0, and what it did.
type recording struct {
	Request  json.RawMessage
	Response json.RawMessage
}

// operation is what the stand-in has to know of a request.
type operation struct {
	Op            string
	Sequence, Ack uint16
	AckBits       uint32 `json:"ack_bits"`
	Hex           string
	Config        struct {
		NextToSend uint16 `json:"next_to_send"`
	}
	Events []struct {
		At                       int64
		Event, Payload, Datagram string
	}
}

// answer is what came back.
type answer struct {
	Hex   string
	Steps []step
}

type step struct {
	Datagrams []string
	Delivered *struct {
		Sequence uint16
		Payload  string
	}
	Acked   []uint16
	Refused *struct{ Error string }
}

func recordings(t *testing.T) (all []recording) {
	t.Helper()
	text, err := os.ReadFile("recorded.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var r recording
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if len(all) < 70 {
		t.Fatalf("%d recordings", len(all))
	}
	return all
}

// decoded returns JSON without the order of its members.
func decoded(t *testing.T, text []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(v)
}

// Package packet does what reliable did.
func TestRecorded(t *testing.T) {
	for i, r := range recordings(t) {
		got := port.Answer(append([]byte(`{"id":7,`), r.Request[1:]...))
		want := append([]byte(`{"id":7,`), r.Response[1:]...)
		if decoded(t, got) != decoded(t, want) {
			t.Errorf("recording %d:\n%.300s\ngives\n%.300s\nand not\n%.300s", i+1, r.Request, got, r.Response)
		}
	}
}

// So does the stand-in, in what it has: headers and conversations.
func TestRecordedByStandIn(t *testing.T) {
	seen := map[string]int{}
	for i, r := range recordings(t) {
		var op operation
		var want answer
		if err := json.Unmarshal(r.Request, &op); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(r.Response, &want); err != nil {
			t.Fatal(err)
		}
		seen[op.Op]++
		switch op.Op {
		case "packet_header":
			if got := hex.EncodeToString(reliable.Header(op.Sequence, op.Ack, op.AckBits)); got != want.Hex {
				t.Errorf("recording %d: %s, not %s", i+1, got, want.Hex)
			}
		case "packet_endpoint":
			converse(t, op, want.Steps)
		}
	}
	if seen["packet_header"] < 20 || seen["packet_endpoint"] < 2 {
		t.Errorf("%v", seen)
	}
}

func converse(t *testing.T, op operation, want []step) {
	t.Helper()
	e := reliable.New(op.Config.NextToSend)
	for i, event := range op.Events {
		w := want[i]
		if event.Event == "send" {
			datagrams, _ := e.Send(event.At, unhex(t, event.Payload))
			got := []string{}
			for _, d := range datagrams {
				got = append(got, hex.EncodeToString(d))
			}
			if !slices.Equal(got, w.Datagrams) {
				t.Fatalf("event %d: %v, not %v", i, got, w.Datagrams)
			}
			continue
		}
		number, payload, acked := e.Receive(event.At, unhex(t, event.Datagram))
		if !slices.Equal(acked, w.Acked) || (payload != nil) != (w.Delivered != nil) {
			t.Fatalf("event %d: acked %v, not %v", i, acked, w.Acked)
		}
		if w.Delivered != nil && (number != w.Delivered.Sequence || hex.EncodeToString(payload) != w.Delivered.Payload) {
			t.Fatalf("event %d: %d %x", i, number, payload)
		}
	}
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
