package main

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/chunkwire/chunkwire/testvectors"
)

// trace answers the ops sender and receiver (appendix B of the specification).
func (q *portRequest) trace(a *portResponse) error {
	var events []testvectors.Event
	if err := strictly(q.Events, &events); err != nil {
		return err
	}
	var steps []testvectors.Step
	var err error
	if *q.Op == "sender" {
		var cfg testvectors.SenderConfig
		if err := strictly(q.Config, &cfg); err != nil {
			return err
		}
		steps, err = testvectors.RunSender(cfg, events)
	} else {
		var cfg testvectors.ReceiverConfig
		if err := strictly(q.Config, &cfg); err != nil {
			return err
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

// strictly decodes JSON that must be there and hold no unknown field.
func strictly(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if bytes.Equal(raw, []byte("null")) || d.Decode(into) != nil {
		return errBadRequest
	}
	return nil
}
