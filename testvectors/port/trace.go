package port

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/chunkwire/chunkwire/testvectors"
)

// trace answers the ops sender and receiver (appendix B of the specification).
func (q *request) trace(a *response) error {
	events, err := q.traceEvents()
	if err != nil {
		return err
	}
	var steps []testvectors.Step
	if *q.Op == "sender" {
		var cfg testvectors.SenderConfig
		if err := strictly(q.Config, &cfg); err != nil || !hasProfile(q.Config) || !has(q.Config, "first_chunk_id", "give_up_us") {
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

func (q *request) traceEvents() ([]testvectors.Event, error) {
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

// strictly decodes JSON that must be there and hold no unknown field. The names
// of all fields are in lower case.
func strictly(raw json.RawMessage, into any) error {
	var value any
	if json.Unmarshal(raw, &value) != nil || !plainNames(value) {
		return errBadRequest
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if bytes.Equal(raw, []byte("null")) || d.Decode(into) != nil {
		return errBadRequest
	}
	return nil
}

// hasProfile reports whether a sender's config has a whole profile, or null.
func hasProfile(config json.RawMessage) bool {
	var c map[string]json.RawMessage
	if json.Unmarshal(config, &c) != nil {
		return false
	}
	p, ok := c["profile"]
	return ok && (bytes.Equal(p, []byte("null")) ||
		has(p, "rate", "cap", "burst", "acks_pay", "spacing_us", "resend_delay_us"))
}

// has reports whether a JSON object has all fields of a list, and none of them
// is null.
func has(raw json.RawMessage, fields ...string) bool {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return false
	}
	for _, f := range fields {
		if v, ok := object[f]; !ok || bytes.Equal(v, []byte("null")) {
			return false
		}
	}
	return true
}

// plainNames reports whether a JSON value names its fields in small letters and
// underscores. Decoding a struct would take others for these.
func plainNames(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" || !plainNames(inner) {
				return false
			}
		}
	case []any:
		for _, inner := range v {
			if !plainNames(inner) {
				return false
			}
		}
	}
	return true
}
