package connections

import (
	"errors"
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/core"
)

// Moves is the operation connection_moves (CXO-15, CXO-16): an end whose handshake says that it moves, was
// linked again, or ends.
var Moves = &conform.Op{
	Name:   "connection_moves",
	Doc:    "a trace of one end of a connection that moves, is linked again, or ends",
	Config: withoutLanes(),
	Events: append(slices.Clip(Op.Events),
		conform.Kind{Name: "move", Of: Move{}, Doc: "the client has another address"},
		conform.Kind{Name: "moved", Of: Moved{}, Doc: "the client took LINKED in RELINKING"},
		conform.Kind{Name: "placed", Of: Placed{}, Doc: "the server answered a PROOF of the connection"},
		conform.Kind{Name: "end", Of: End{}, Doc: "there is no such connection any more"}),
	Step: MovesStep{},
	Words: conform.Dialect{Event: eventOfWords, Say: wordsOfEvent, Step: func(config any, step conform.Step) conform.Said {
		s := step.(MovesStep)
		said := said(config, s.Step)
		if s.News {
			said.Came = append(said.Came, conform.Plain("news"))
		}
		trip := "srtt=none"
		if s.SRTT.Is {
			trip = fmt.Sprintf("srtt=%d", s.SRTT.V)
		}
		said.Figures = append(said.Figures, trip, s.Mode)
		return said
	}},
	Product: func(config any) (conform.Machine, error) {
		m, err := newProduct(config)
		if err != nil {
			return nil, err
		}
		return &movingProduct{m.(*Product)}, nil
	},
	Oracle: func(config any) (conform.Machine, error) {
		m, err := newOracle(config)
		if err != nil {
			return nil, err
		}
		return &movingOracle{m.(*Oracle)}, nil
	},
}

func withoutLanes() Config {
	c := Op.Config.(Config)
	c.Lanes = 0
	return c
}

type (
	// Move says that the client has another address.
	Move struct{}
	// Moved says that it took LINKED in RELINKING.
	Moved struct{}
	// Placed says that the server answered a PROOF of the connection.
	Placed struct {
		Changed bool `json:"changed" doc:"from another address"`
	}
	// End ends the connection.
	End struct{}
)

// MovesStep is what an end did, and what it then knows of its path.
type MovesStep struct {
	Step
	News bool               `json:"news" doc:"of a datagram (CXL-15)"`
	SRTT conform.Opt[int64] `json:"srtt" doc:"null while it is not measured"`
	Mode string             `json:"mode" in:"good bad" doc:"of congestion avoidance"`
}

var modeOf = map[bool]string{true: "good", false: "bad"}

// errEnded is why a connection ends that the session ends.
var errEnded = errors.New("ended")

type movingProduct struct{ *Product }

// Do is the machine under test.
func (p *movingProduct) Do(at int64, e conform.Event) conform.Step {
	now := core.Micros(at)
	s := MovesStep{}
	notices := map[conform.Event]connection.Notice{
		Move{}: connection.NoticeMove, Moved{}: connection.NoticeMoved, Placed{true}: connection.NoticeMoved, Placed{}: connection.NoticeRelinked, End{}: connection.NoticeEnd,
	}
	if notice, is := notices[e]; is {
		connection.Notify(p.Conn, now, notice, errEnded)
		s.Step = Step{Rows: []string{}, Datagrams: []conform.Bytes{}}
		if notice == connection.NoticeEnd {
			s.Rows = append(s.Rows, string(p.Row()))
		}
		p.finish(at, &s.Step, []bool{}, p.Counts().CEReported)
	} else {
		before := p.news
		s.Step = p.Product.Do(at, e).(Step)
		s.News = p.news > before
	}
	known := p.Estimates(now)
	s.SRTT, s.Mode = conform.If(int64(known.SRTT), known.Measured), modeOf[p.Inside().(bool)]
	return s
}

type movingOracle struct{ *Oracle }

// Do is the machine under test.
func (o *movingOracle) Do(at int64, e conform.Event) conform.Step {
	s := MovesStep{}
	switch is := e.(type) {
	case Move:
		o.Connection.Move(at)
	case Moved:
		o.Connection.Relinked(at, true)
	case Placed:
		o.Connection.Relinked(at, is.Changed)
	case End:
		s.Rows = []string{o.Connection.End(at)}
	default:
		s.Step = o.Oracle.Do(at, e).(Step)
		_, came := e.(Receive)
		s.News = came && o.News()
	}
	if s.Datagrams == nil {
		s.Step = o.finish(at, Step{Rows: append([]string{}, s.Rows...), Datagrams: []conform.Bytes{}}, Marks{ECT: []bool{}})
	}
	s.SRTT, s.Mode = conform.If(o.SRTT()), modeOf[o.Good()]
	return s
}
