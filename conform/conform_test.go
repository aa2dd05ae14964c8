package conform_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/check"
)

// A toy: a counter that takes numbers, and forgets them at a time.
type (
	toyConfig struct {
		Most int64 `json:"most" in:"3 5" default:"3"`
	}
	add struct {
		N     int64              `json:"n" range:"1 9"`
		Named conform.Opt[int64] `json:"named,omitzero" range:"0 255" default:"none"`
		List  []uint16           `json:"list,omitempty" default:"none" size:"1 3"`
	}
	reset struct {
		Until conform.Opt[int64] `json:"until" unit:"us" range:"0 9000000"`
	}
	toyStep struct {
		Sum  int64         `json:"sum"`
		Data conform.Bytes `json:"data"`
	}
)

type toy struct{ sum, most, wrong int64 }

func (m *toy) Do(at int64, e conform.Event) conform.Step {
	switch e := e.(type) {
	case add:
		if m.sum += e.N; m.sum > m.most+m.wrong {
			m.sum = m.most
		}
	case reset:
		m.sum = 0
	}
	return toyStep{m.sum, conform.Bytes(fmt.Sprint(m.sum))}
}

func (m *toy) Look() conform.Look { return conform.Look{Deadline: conform.Some(m.sum * 100)} }

func newToy(wrong int64) func(any) (conform.Machine, error) {
	return func(config any) (conform.Machine, error) {
		return &toy{most: config.(toyConfig).Most, wrong: wrong}, nil
	}
}

func toyOp(wrong int64) *conform.Op {
	return &conform.Op{
		Name: "toy", Config: toyConfig{3}, Step: toyStep{},
		Events:  []conform.Kind{{Name: "add", Of: add{}}, {Name: "reset", Of: reset{}}},
		Product: newToy(wrong), Oracle: newToy(0),
		Words: conform.Dialect{Step: func(_ any, s conform.Step) conform.Said {
			return conform.Said{Came: []conform.Item{conform.Counted("=", s.(toyStep).Sum, ";")}, Figures: []string{fmt.Sprintf("d%d", s.(toyStep).Sum/2)}}
		}},
	}
}

func request(text string) (o conform.Object) {
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		panic(err)
	}
	return o
}

// Requests are refused as the contract says, at the first thing that is wrong.
func TestRead(t *testing.T) {
	op := toyOp(0)
	for _, c := range []struct{ events, want string }{
		{`[{"at":0,"event":"add","n":1}]`, ""},
		{`[{"at":0,"event":"add","n":9,"named":255,"list":[0,65535]}]`, ""},
		{`[{"at":0,"event":"reset","until":null},{"at":0,"event":"reset","until":1}]`, ""},
		{`[{"at":0,"event":"add","n":10}]`, "bad_request"},
		{`[{"at":0,"event":"add","n":1.0}]`, "bad_request"},
		{`[{"at":0,"event":"add","n":99999999999999999999}]`, "bad_request"},
		{`[{"at":0,"event":"add","n":null}]`, "bad_request"},
		{`[{"at":0,"event":"add","n":1,"named":null}]`, "bad_request"},
		{`[{"at":0,"event":"add","n":1,"list":[]}]`, "bad_request"},
		{`[{"at":0,"event":"add","n":1,"list":[-1]}]`, "bad_request"},
		{`[{"at":-1,"event":"add","n":1}]`, "bad_request"},
		{`[{"at":4611686018427387904,"event":"add","n":1}]`, "bad_request"},
		{`[{"at":0,"event":"reset"}]`, "bad_request"},
		{`[{"at":0,"event":"other"}]`, "unsupported"},
		{`[{"event":"other"}]`, "unsupported"},
		{`[{"at":0,"event":null}]`, "bad_request"},
		{`[null]`, "bad_request"},
		{`null`, "bad_request"},
	} {
		_, err := op.Answer(request(`{"config":{"most":3},"events":`+c.events+`}`), op.Product)
		if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
			t.Errorf("%s: %v", c.events, err)
		}
	}
	for _, q := range []string{`{"events":[]}`, `{"config":{"most":4},"events":[]}`, `{"config":null,"events":[]}`, `{"config":{"most":"3"},"events":[]}`} {
		if _, err := op.Answer(request(q), op.Product); err != conform.ErrBadRequest {
			t.Errorf("%s: %v", q, err)
		}
	}
}

// Bytes mean events, and events bytes.
func TestInput(t *testing.T) {
	op := toyOp(0)
	want := []conform.Timed{
		{5, add{N: 9}}, {100, add{N: 1, Named: conform.Some(int64(7)), List: []uint16{1, 65535}}}, {299, add{N: 2}}, {300, reset{}},
		{256_000, reset{}}, {10, reset{conform.Some(int64(9_000_000))}}, {1 << 40, reset{}}, {0, reset{}}, {conform.MostTime, reset{}}, {0, add{N: 3}},
	}
	in := &conform.Input{Left: op.Encode(toyConfig{5}, want, &toy{most: 5})}
	check.Equal(t, "the config", op.Configure(in), any(toyConfig{5}))
	m := &toy{most: 5}
	var got []conform.Timed
	for at, e := range op.Play(in, toyConfig{5}, m, 99) {
		got = append(got, conform.Timed{At: at, Event: e})
		m.Do(at, e)
	}
	check.Equal(t, "the events", got, want)
	for _, any := range []string{"", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
		in := &conform.Input{Left: []byte(any)}
		for at := range op.Play(in, op.Configure(in), m, 99) {
			check.That(t, at >= 0 && at <= conform.MostTime, "a time in its range")
		}
	}
}

// failed is a T that ends at the first failure.
type failed string

type recorder struct{ testing.TB }

func (recorder) Helper()                           {}
func (recorder) Logf(string, ...any)               {}
func (recorder) Fatalf(format string, args ...any) { panic(failed(fmt.Sprintf(format, args...))) }

// A product that differs fails with a script, which expects what the oracle did.
func TestPair(t *testing.T) {
	defer func() {
		text, _ := recover().(failed)
		script := "with most=5\n1ms add 4 : =4; d2\n2ms plain add 2 none none : =5;\n"
		if !strings.HasSuffix(string(text), strings.ReplaceAll(script, "plain add 2 none none", "add 2")) || !strings.Contains(string(text), `event 1: it does`+"\n"+`{"sum":6,"data":"36"}`) {
			t.Errorf("failed with %s", text)
		}
		p := check.Must(toyOp(0).Run(strings.Split(strings.TrimSpace(string(text[strings.Index(string(text), "with"):])), "\n")))
		check.Equal(t, "the script", p.Events, []conform.Timed{{1000, add{N: 4}}, {2000, add{N: 2}}})
		check.That(t, p.Wrong() == nil, "it expects what came")
	}()
	p := toyOp(1).Pair(recorder{}, toyConfig{5})
	p.Do(1000, add{N: 4})
	p.Do(2000, add{N: 2})
	t.Error("no failure")
}

// Scripts expect what is printed, and are rewritten so.
func TestScripts(t *testing.T) {
	archive := "-- a --\nhead\n\nwith most=5\n0 add 1 : -\n-- b --\nhead\n\nwith most=5\n0 add 1 : -\n1/1/3 add 1-2 : =2; \n1s reset none : =0; d0\n1s reset 1s+1 : \n"
	_, body, _ := strings.Cut(archive[strings.Index(archive, "-- b"):], "\n\n")
	p := check.Must(toyOp(0).Run(strings.Split(strings.TrimSuffix(body, "\n"), "\n")))
	check.That(t, p.Wrong() != nil, "something else comes")
	text := p.Rewrite(archive, "b")
	check.Same(t, "the archive", text, "-- a --\nhead\n\nwith most=5\n0 add 1 : -\n-- b --\nhead\n\nwith most=5\n0 add 1 : =1; d0\n1/1/3 add 1-2 : =2; =4-5; d2\n1s reset none : =0; d0\n1s reset 1s+1 : =0;\n")
	for _, bad := range []string{"0 add : -", "0 add 10 : -", "0 other : -", "0 add 1", "x add 1 : -", ": -", "0 reset : -", "with least=3", "0 add 1 none none 4 : -"} {
		if _, err := toyOp(0).Run([]string{bad}); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// Times are sums, a list goes up, and what cannot be read stays in Err.
func TestWords(t *testing.T) {
	var w conform.Words
	check.Equal(t, "times", []int64{w.Time("10s-1"), w.Time("1h"), w.Time("1s+30ms+7")}, []int64{10_000_000 - 1, 3_600_000_000, 1_030_007})
	check.Equal(t, "many", w.Times("1_000/500/3"), []int64{1000, 1500, 2000})
	check.Equal(t, "list", w.List("0-2,5"), []int64{0, 1, 2, 5})
	check.Same(t, "all of them", w.Err, nil)
	for _, text := range []string{"", "x", "1m", "1s+"} {
		var w conform.Words
		w.Time(text)
		check.That(t, w.Err != nil, text)
	}
}
