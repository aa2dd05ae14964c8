package trace_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/chunkwire/chunkwire/conform/trace"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

func events(t *testing.T, text string) (list []contract.Event) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// rows is what a trace is about, in short.
func rows(steps []contract.Step) (list []string) {
	for _, s := range steps {
		list = append(list, s.Row+" "+s.State+" "+s.Error)
	}
	return list
}

// A sender's events, its steps and the content of its chunk (TRC-1, TRC-2, TRC-4).
func TestSenderTrace(t *testing.T) {
	profile := &contract.Profile{Cap: 17056, SpacingUS: 85}
	steps, err := trace.RunSender(contract.SenderConfig{FirstChunkID: 9, GiveUpUS: 1_000_000, Profile: profile}, events(t, `[
		{"at":0,"event":"submit","size":0},
		{"at":0,"event":"submit","size":1025},
		{"at":0,"event":"submit","size":1},
		{"at":0,"event":"poll"},
		{"at":85,"event":"poll"},
		{"at":50000,"event":"ack","chunk_id":9,"acked":"01"},
		{"at":2000000,"event":"poll"},
		{"at":2000000,"event":"submit","size":1}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"S2 IDLE chunk_size", "S1 SENDING ", "S3 SENDING busy", "S14 SENDING ", "S14 SENDING ", "S9 SENDING ", "S15 FAILED ", "S4 FAILED gave_up"}
	if diff := cmp.Diff(want, rows(steps)); diff != "" {
		t.Error(diff)
	}
	if len(steps[3].Packets) != 1 || *steps[3].DeadlineUS != 85 || *steps[5].Acked != "01" || *steps[6].Acked != "" || steps[6].DeadlineUS != nil {
		t.Errorf("%+v", steps)
	}
	first := trace.Data(9, 1025)
	if first[0] != 63 || first[1024] != (1024+31+63)%256 {
		t.Errorf("content begins with %d, slice 1 with %d", first[0], first[1024])
	}
}

// A receiver's events and steps (TRC-3, TRC-4).
func TestReceiverTrace(t *testing.T) {
	steps, err := trace.RunReceiver(contract.ReceiverConfig{GiveUpUS: 1_000_000}, events(t, `[
		{"at":0,"event":"read"},
		{"at":0,"event":"slice","chunk_id":0,"slice_id":1,"num_slices":3,"size":1024,"fill":7},
		{"at":0,"event":"slice","chunk_id":0,"slice_id":1,"num_slices":2,"size":10},
		{"at":1000000,"event":"poll"}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"R17 WAITING nothing_to_read", "R2 RECEIVING ", "R8 RECEIVING ", "R23 FAILED "}
	if diff := cmp.Diff(want, rows(steps)); diff != "" {
		t.Error(diff)
	}
	if *steps[1].Received != "010" || *steps[3].Received != "" {
		t.Errorf("%+v", steps)
	}
}

func TestEventsThatNoTraceHas(t *testing.T) {
	cases := map[string]struct {
		event string
		want  error
	}{
		"sender: slice":             {`{"event":"slice"}`, trace.ErrUnsupported},
		"sender: no size":           {`{"event":"submit"}`, trace.ErrBadRequest},
		"sender: absurd size":       {`{"event":"submit","size":1000000000}`, trace.ErrBadRequest},
		"sender: no acked":          {`{"event":"ack","chunk_id":0}`, trace.ErrBadRequest},
		"sender: acked of letters":  {`{"event":"ack","chunk_id":0,"acked":"1x"}`, trace.ErrBadRequest},
		"sender: nothing to send":   {`{"event":"poll","due":[0]}`, trace.ErrBadRequest},
		"sender: slice not there":   {`{"event":"submit","size":2000},{"event":"poll","due":[2]}`, trace.ErrBadRequest},
		"sender: slice below 0":     {`{"event":"submit","size":2000},{"event":"poll","due":[-1]}`, trace.ErrBadRequest},
		"sender: time below 0":      {`{"at":-1,"event":"poll"}`, trace.ErrBadRequest},
		"receiver: time below 0":    {`{"at":-1,"event":"poll"}`, trace.ErrBadRequest},
		"receiver: submit":          {`{"event":"submit","size":1}`, trace.ErrUnsupported},
		"receiver: no size":         {`{"event":"slice","chunk_id":0,"slice_id":0,"num_slices":1}`, trace.ErrBadRequest},
		"receiver: short slice":     {`{"event":"slice","chunk_id":0,"slice_id":0,"num_slices":2,"size":10}`, trace.ErrBadRequest},
		"receiver: slice out of it": {`{"event":"slice","chunk_id":0,"slice_id":300,"num_slices":2,"size":10}`, trace.ErrBadRequest},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			list := events(t, "["+c.event+"]")
			_, err := trace.RunReceiver(contract.ReceiverConfig{GiveUpUS: 1}, list)
			if name[0] == 's' {
				_, err = trace.RunSender(contract.SenderConfig{GiveUpUS: 1}, list)
			}
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

// (TRC-6)
func TestConfigsThatNoTraceHas(t *testing.T) {
	good := func() contract.SenderConfig {
		return contract.SenderConfig{GiveUpUS: 1, Profile: &contract.Profile{Rate: 1066, Cap: 1066}}
	}
	if _, err := trace.RunSender(good(), nil); err != nil {
		t.Fatal(err)
	}
	for name, fault := range map[string]func(*contract.SenderConfig){
		"no time to give up": func(c *contract.SenderConfig) { c.GiveUpUS = 0 },
		"rate too small":     func(c *contract.SenderConfig) { c.Profile.Rate = 1065 },
		"rate too large":     func(c *contract.SenderConfig) { c.Profile.Rate = 1_000_000_001 },
		"cap too small":      func(c *contract.SenderConfig) { c.Profile.Cap = 1065 },
		"burst above cap":    func(c *contract.SenderConfig) { c.Profile.Burst = 1067 },
		"spacing below 0":    func(c *contract.SenderConfig) { c.Profile.SpacingUS = -1 },
		"delay below 0":      func(c *contract.SenderConfig) { c.Profile.ResendDelayUS = -1 },
	} {
		c := good()
		fault(&c)
		if _, err := trace.RunSender(c, nil); !errors.Is(err, trace.ErrBadRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := trace.RunReceiver(contract.ReceiverConfig{}, nil); !errors.Is(err, trace.ErrBadRequest) {
		t.Errorf("receiver without a time to give up: %v", err)
	}
}
