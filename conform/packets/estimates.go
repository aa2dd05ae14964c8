package packets

import (
	"fmt"
	"strings"

	"github.com/chunkwire/chunkwire/conform"
)

// Path is the operation packet_estimates (PKO-7, PKO-8).
var Path = &conform.Op{
	Name:   "packet_estimates",
	Doc:    "a trace of an end of the packet layer, with what it knows of the path",
	Config: Endpoint.Config,
	Events: Whole.Events,
	Step:   PathStep{},
	Words:  conform.Dialect{Event: pathEvent, Say: endpointWords, Step: pathSaid},
	Product: func(config any) (conform.Machine, error) {
		m, err := newProductEndpoint(config)
		if err != nil {
			return nil, err
		}
		return &productPath{m.(*ProductEndpoint)}, nil
	},
	Oracle: func(config any) (conform.Machine, error) {
		m, err := newOracleEndpoint(config)
		if err != nil {
			return nil, err
		}
		return &oraclePath{m.(*OracleEndpoint)}, nil
	},
}

// PathStep is what an endpoint did, and what it knows then.
type PathStep struct {
	EndpointStep
	Estimates Estimates `json:"estimates"`
}

// Estimates are those of section 8, with the mode of section 9. What is unknown is null.
type Estimates struct {
	SRTT     conform.Opt[int64] `json:"srtt"`
	Jitter   int64              `json:"jitter"`
	Latest   int64              `json:"latest"`
	MinRTT   int64              `json:"min_rtt"`
	Patience int64              `json:"patience"`
	Loss     conform.Opt[int64] `json:"loss" doc:"in tenths of a percent"`
	Sent     int64              `json:"sent" doc:"bits a second"`
	Received int64              `json:"received"`
	Acked    int64              `json:"acked"`
	Shown    conform.Opt[Shown] `json:"shown"`
	Mode     string             `json:"mode" in:"good bad"`
	Recovery int64              `json:"recovery"`
	Deadline conform.Opt[int64] `json:"deadline" doc:"that of PKI-4; it may have passed"`
}

// Shown are latencies for display (PKE-6).
type Shown struct {
	Min       int64 `json:"min"`
	Max       int64 `json:"max"`
	Avg       int64 `json:"avg"`
	JitterAvg int64 `json:"jitter_avg"`
	JitterMax int64 `json:"jitter_max"`
	JitterDev int64 `json:"jitter_dev"`
}

type (
	productPath struct{ *ProductEndpoint }
	oraclePath  struct{ *OracleEndpoint }
)

// Do is the machine under test.
func (p *productPath) Do(at int64, e conform.Event) conform.Step {
	return known(p.ProductEndpoint.Do(at, e), p.Inside())
}

// Do is the machine under test.
func (o *oraclePath) Do(at int64, e conform.Event) conform.Step {
	return known(o.OracleEndpoint.Do(at, e), o.Inside())
}

// known adds what an endpoint has inside to a step.
func known(step conform.Step, within any) conform.Step {
	did, ok := step.(EndpointStep)
	if !ok {
		return nil
	}
	in := within.(inside)
	e := Estimates{
		SRTT: conform.If(in.SRTT, in.Measured), Jitter: in.Jitter, Latest: in.Latest, MinRTT: in.MinRTT, Patience: in.Patience,
		Sent: in.Sent, Received: in.Received, Acked: in.Acked, Mode: "bad", Recovery: in.recovery, Deadline: deadline(in.due),
	}
	if in.Settled > 0 {
		e.Loss = conform.Some(1000 * in.Lost / in.Settled)
	}
	if s := in.Shown; s.Count > 0 {
		e.Shown = conform.Some(Shown{s.Min, s.Max, s.Avg, s.JitterAvg, s.JitterMax, s.JitterDev})
	}
	if in.good {
		e.Mode = "good"
	}
	return PathStep{did, e}
}

// pathEvent also reads quiet SIZE and above SAYS.
func pathEvent(w *conform.Words, config any, word string, args []string) conform.Event {
	switch {
	case word == "quiet" && len(args) == 1:
		return Quiet{payload(w, args[0], w.Position)}
	case word == "above":
		return Above{strings.Join(args, " ")}
	}
	return endpointEvent(w, config, word, args)
}

// pathSaid also says srtt=SRTT/JITTER/LATEST/LEAST, patience=TIME, loss=N, rates=SENT/RECEIVED/ACKED, shown=…, the mode with
// its recovery and the deadline.
func pathSaid(config any, step conform.Step) conform.Said {
	s := step.(PathStep)
	said, e := endpointSaid(config, s.EndpointStep), s.Estimates
	trip, shown, loss := "srtt=none", "shown=none", "loss=none"
	if e.SRTT.Is {
		trip = fmt.Sprintf("srtt=%d/%d/%d/%d", e.SRTT.V, e.Jitter, e.Latest, e.MinRTT)
	}
	if f := e.Shown.V; e.Shown.Is {
		shown = fmt.Sprintf("shown=%d-%d/%d/%d/%d/%d", f.Min, f.Max, f.Avg, f.JitterAvg, f.JitterMax, f.JitterDev)
	}
	if e.Loss.Is {
		loss = fmt.Sprintf("loss=%d", e.Loss.V)
	}
	said.Figures = []string{
		trip, fmt.Sprintf("patience=%d", e.Patience), loss, fmt.Sprintf("rates=%d/%d/%d", e.Sent, e.Received, e.Acked), shown,
		e.Mode + ":" + conform.WriteTime(e.Recovery), conform.WriteDeadline(e.Deadline),
	}
	return said
}
