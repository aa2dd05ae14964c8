package conform

import (
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"sort"
)

// T is what is needed of a *testing.T. Fatalf must not return.
type T interface {
	Helper()
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Judge sees what a machine does, and knows no rule of it.
type Judge interface {
	Saw(at int64, e Event, s Step) error
}

// Pair is a product beside its oracle. A failure ends with the script of all that happened,
// which can be added to the traces as it is.
type Pair struct {
	T       T
	Op      *Op
	Config  any
	Product Machine
	Oracle  Oracle
	Judges  []Judge
	Events  []Timed
	steps   []Step // of the oracle
	rows    [][]string
	count   int
}

// mostRecorded is how many events a script has at most: a run in virtual time may be long.
const mostRecorded = 20_000

// Pair returns new machines; nil if neither takes the configuration, which the contract
// answers with bad_request.
func (op *Op) Pair(t T, config any) *Pair {
	t.Helper()
	product, refused := op.Product(config)
	oracle, refusedToo := op.Oracle(config)
	switch {
	case (refused == nil) != (refusedToo == nil):
		t.Fatalf("%s: %+v: %v, the oracle %v", op.Name, config, refused, refusedToo)
	case refused != nil:
		return nil
	}
	return &Pair{T: t, Op: op, Config: config, Product: product, Oracle: oracle.(Oracle)}
}

// Do puts an event to both machines, which must do the same, and returns what they did.
func (p *Pair) Do(at int64, e Event) Step {
	p.T.Helper()
	want := p.Oracle.Do(at, e)
	if p.count++; p.count <= mostRecorded {
		p.Events, p.steps, p.rows = append(p.Events, Timed{at, e}), append(p.steps, want), append(p.rows, taken(p.Oracle))
	}
	got := p.Product.Do(at, e)
	if !same(got, want) {
		p.Fail("it does\n%s\nthe oracle\n%s", text(got), text(want))
	}
	inside, has := p.Product.(Inside)
	if other, hasToo := p.Oracle.(Inside); has && hasToo && inside.Inside() != other.Inside() {
		p.Fail("inside it has %+v, the oracle %+v", inside.Inside(), other.Inside())
	}
	for _, j := range p.Judges {
		if err := j.Saw(at, e, got); err != nil {
			p.Fail("%v", err)
		}
	}
	return got
}

// Look is what the oracle shows.
func (p *Pair) Look() Look { return p.Oracle.Look() }

// Fail fails, with the script of what happened.
func (p *Pair) Fail(format string, args ...any) {
	p.T.Helper()
	p.T.Fatalf("%s, event %d: %s\n%s", p.Op.Name, p.count-1, fmt.Sprintf(format, args...), p.Op.Script(p.Config, p.Events, p.steps, p.rows))
}

// Compare puts events to both machines.
func (p *Pair) Compare(events iter.Seq2[int64, Event]) {
	p.T.Helper()
	for at, e := range events {
		p.Do(at, e)
	}
}

// same compares steps: by == where their type allows it.
func same(a, b Step) bool {
	if a == nil || b == nil || reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() {
		return a == b
	}
	return reflect.DeepEqual(a, b)
}

func text(s Step) string {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Sprintf("%+v", s)
	}
	return string(b)
}

// Recorded is an oracle, and all that happened to it.
type Recorded struct {
	Oracle
	Op     *Op
	Config any
	Events []Timed
	Steps  []Step
	rows   [][]string
}

// Record returns a new oracle.
func (op *Op) Record(config any) (*Recorded, error) {
	m, err := op.Oracle(config)
	if err != nil {
		return nil, err
	}
	return &Recorded{Oracle: m.(Oracle), Op: op, Config: config}, nil
}

// Do puts an event to the oracle.
func (r *Recorded) Do(at int64, e Event) Step {
	s := r.Oracle.Do(at, e)
	r.Events, r.Steps, r.rows = append(r.Events, Timed{at, e}), append(r.Steps, s), append(r.rows, taken(r.Oracle))
	return s
}

// Cut forgets the events after a time.
func (r *Recorded) Cut(at int64) {
	n := sort.Search(len(r.Events), func(i int) bool { return r.Events[i].At > at })
	r.Events, r.Steps, r.rows = r.Events[:n], r.Steps[:n], r.rows[:n]
}

// Rows are those that each step took.
func (r *Recorded) Rows() (rows [][]string) {
	for i, s := range r.Steps {
		rows = append(rows, r.Op.said(r.Config, s, r.rows[i]).Rows)
	}
	return rows
}

// Request writes what happened as a request.
func (r *Recorded) Request() json.RawMessage { return r.Op.Request(r.Config, r.Events) }
