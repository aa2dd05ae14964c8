package main

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/chunkwire/chunkwire/testvectors"
)

// trace answers the ops sender and receiver (appendix B of the specification).
func (q *portRequest) trace(a *portResponse) error {
	events, err := q.traceEvents()
	if err != nil {
		return err
	}
	var steps []testvectors.Step
	if *q.Op == "sender" {
		var cfg testvectors.SenderConfig
		if err := strictly(q.Config, &cfg); err != nil || !has(q.Config, "first_chunk_id", "give_up_us", "profile") {
			return errBadRequest
		}
		steps, err = testvectors.RunSender(cfg, events)
	} else {
		var cfg testvectors.ReceiverConfig
		if err := strictly(q.Config, &cfg); err != nil || !has(q.Config, "first_chunk_id", "give_up_us") {
			return errBadRequest
		}
		steps, err = testvectors.RunReceiver(cfg, events)
	}
	switch {
	case errors.Is(err, testvectors.ErrUnsupported):
		return errUnsupported
	case err != nil:
		return errBadRequest
	}
	a.Steps = &steps
	return nil
}

func (q *portRequest) traceEvents() ([]testvectors.Event, error) {
	var events []testvectors.Event
	var raw []json.RawMessage
	if strictly(q.Events, &events) != nil || json.Unmarshal(q.Events, &raw) != nil {
		return nil, errBadRequest
	}
	for _, e := range raw {
		if !has(e, "at", "event") {
			return nil, errBadRequest
		}
	}
	return events, nil
}

// strictly decodes JSON that must be there and hold no unknown field.
func strictly(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if bytes.Equal(raw, []byte("null")) || d.Decode(into) != nil {
		return errBadRequest
	}
	return nil
}

// has reports whether a JSON object has all fields of a list.
func has(raw json.RawMessage, fields ...string) bool {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return false
	}
	for _, f := range fields {
		if _, ok := object[f]; !ok {
			return false
		}
	}
	return true
}
