package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/tools/simulate"
)

// way is one direction of a relay.
type way struct {
	path    netsim.Path
	outages []outage
}

// ways are both: up is from the clients to the server, down the way back.
type ways [2]way

const (
	up = iota
	down
)

var (
	wayNames = [2]string{"up", "down"}
	bothWays = []int{up, down}
)

// knob is one figure of a way: a flag, and a line that changes it.
type knob struct {
	name, unit, usage string
	set               func(w *way, text string) error
	get               func(w *way) string // as set takes it; empty if it is off
	both              bool                // of both ways together only
}

// knobs are all of them. A change is made to a copy, so that set can leave anything behind if it fails.
var knobs = []knob{
	{
		name: "rtt", unit: "DURATION", usage: "round-trip time: half of it is the delay each way", both: true,
		set: func(w *way, text string) error {
			err := setDuration(&w.path.Delay, text)
			w.path.Delay /= 2
			return err
		},
		get: func(*way) string { return "" }, // it is in the delays
	},
	{
		name: "delay", unit: "DURATION", usage: "delay one way",
		set: func(w *way, text string) error { return setDuration(&w.path.Delay, text) },
		get: func(w *way) string { return showDuration(w.path.Delay) },
	},
	{
		name: "jitter", unit: "DURATION", usage: "extra delay, random up to this, without reordering",
		set: func(w *way, text string) error { return setDuration(&w.path.Jitter, text) },
		get: func(w *way) string { return showDuration(w.path.Jitter) },
	},
	{
		name: "loss", unit: "PERCENT", usage: "datagrams lost",
		set: func(w *way, text string) error { return percent{&w.path.Loss}.Set(text) },
		get: func(w *way) string { return showNumber(w.path.Loss) },
	},
	{
		name: "burst", unit: "DATAGRAMS", usage: "average length of bursts of loss in datagrams; --loss is the loss in all (Gilbert)",
		set: func(w *way, text string) (err error) {
			w.path.LossRun, err = strconv.ParseFloat(text, 64)
			if err != nil || !(w.path.LossRun >= 0 && w.path.LossRun <= 1_000_000) {
				return errors.New("want a number such as 4, at most 1000000")
			}
			return nil
		},
		get: func(w *way) string { return showNumber(w.path.LossRun) },
	},
	{
		name: "gemodel", unit: "P,R[,BAD[,GOOD]]", usage: "Gilbert-Elliott, as netem's gemodel: percent to enter the bad state and to leave it, loss in it (100) and in the good one (0); off ends it",
		set: setGilbertElliott,
		get: showGilbertElliott,
	},
	{
		name: "duplicate", unit: "PERCENT", usage: "datagrams duplicated",
		set: func(w *way, text string) error { return percent{&w.path.Duplicate}.Set(text) },
		get: func(w *way) string { return showNumber(w.path.Duplicate) },
	},
	{
		name: "reorder", unit: "PERCENT", usage: "datagrams held back by --reorder-delay, so that later ones overtake them",
		set: func(w *way, text string) error { return percent{&w.path.Reorder}.Set(text) },
		get: func(w *way) string { return showNumber(w.path.Reorder) },
	},
	{
		name: "reorder-delay", unit: "DURATION", usage: "how long (10ms)",
		set: func(w *way, text string) error { return setDuration(&w.path.ReorderDelay, text) },
		get: func(w *way) string { return only(w.path.Reorder > 0, showDuration(w.path.ReorderDelay)) },
	},
	{
		name: "corrupt", unit: "PERCENT", usage: "datagrams of which one bit is flipped",
		set: func(w *way, text string) error { return percent{&w.path.Corrupt}.Set(text) },
		get: func(w *way) string { return showNumber(w.path.Corrupt) },
	},
	{
		name: "rate", unit: "BITS", usage: "rate of the link in bits a second; 0 is unlimited",
		set: func(w *way, text string) error { return bitRate(&w.path.Rate, 0).Set(text) },
		get: func(w *way) string { return showQuantity(bitRate, w.path.Rate) },
	},
	{
		name: "queue", unit: "BYTES", usage: "with --rate, bytes that wait before the link; 0 is unlimited",
		set: func(w *way, text string) error { return setSize(&w.path.Queue, text) },
		get: func(w *way) string { return showSize(w.path.Queue) },
	},
	{
		name: "police", unit: "BITS", usage: "rate above which a policer drops; 0: no policer",
		set: func(w *way, text string) error { return bitRate(&w.path.PoliceRate, 0).Set(text) },
		get: func(w *way) string { return showQuantity(bitRate, w.path.PoliceRate) },
	},
	{
		name: "police-burst", unit: "BYTES", usage: "bytes that the policer lets through at once (16K)",
		set: func(w *way, text string) error { return setSize(&w.path.PoliceBurst, text) },
		get: func(w *way) string { return only(w.path.PoliceRate > 0, showSize(w.path.PoliceBurst)) },
	},
	{
		name: "outage", unit: "LENGTH[@AT][/EVERY]", usage: "nothing gets through for a time, such as 5s@10s, once; 1s/30s, every 30 s; 1s@10s/30s",
		set: func(w *way, text string) error {
			o, err := parseOutage(text)
			w.outages = append(slices.Clip(w.outages), o)
			return err
		},
		get: func(w *way) string { return "" }, // a line of it is another thing
	},
}

// knobNamed returns the knob of a name.
func knobNamed(name string) (knob, bool) {
	i := slices.IndexFunc(knobs, func(k knob) bool { return k.name == name })
	if i < 0 {
		return knob{}, false
	}
	return knobs[i], true
}

// turn changes a copy of some ways, and returns it.
func (w ways) turn(k knob, which []int, text string) (ways, error) {
	for _, i := range which {
		if err := k.set(&w[i], text); err != nil {
			return w, err
		}
		if p := w[i].path; p.LossRun > 0 && p.Bad != (netsim.BadState{}) {
			return w, errors.New("there are burst and gemodel; one of them must be 0, or off")
		}
	}
	return w, nil
}

// settings returns what is not off, by name.
func (w *way) settings() map[string]string {
	all := map[string]string{}
	for _, k := range knobs {
		if value := k.get(w); value != "" {
			all[k.name] = value
		}
	}
	for i, o := range w.outages {
		all["outage"] += strings.Repeat(" ", min(i, 1)) + o.String()
	}
	return all
}

// describe writes them in a line.
func (w *way) describe() string {
	all, parts := w.settings(), []string(nil)
	for _, k := range knobs {
		if value := all[k.name]; value != "" {
			parts = append(parts, k.name+" "+value)
		}
	}
	if len(parts) == 0 {
		return "nothing is changed"
	}
	return strings.Join(parts, ", ")
}

// knobFlags are the flags of all knobs: of both ways, and of each way with its name before them. What one
// way is given outranks what both are.
type knobFlags struct {
	general, special []turned
}

// turned is a flag that was given.
type turned struct {
	knob
	which []int
	text  string
}

// knobFlag is one of the flags.
type knobFlag struct {
	knob
	which []int
	given *[]turned
}

func (k knobFlag) Type() string   { return k.unit }
func (k knobFlag) String() string { return "" }

func (k knobFlag) Set(text string) error {
	*k.given = append(*k.given, turned{k.knob, k.which, text})
	return k.set(new(way), text)
}

func (f *knobFlags) add(flags *pflag.FlagSet) {
	for _, k := range knobs {
		flags.Var(knobFlag{k, bothWays, &f.general}, k.name, k.usage)
		for i, name := range wayNames {
			if k.both {
				continue
			}
			flags.Var(knobFlag{k, []int{i}, &f.special}, name+"-"+k.name, k.usage)
			flags.Lookup(name + "-" + k.name).Hidden = true // there are too many; the help names them
		}
	}
}

// ways returns what the flags say, for links where each datagram takes so many bytes more.
func (f *knobFlags) ways(overhead int) (w ways, err error) {
	for i := range w {
		w[i].path = netsim.Path{ReorderDelay: 10 * time.Millisecond, PoliceBurst: 16 << 10, Overhead: overhead}
	}
	for _, t := range slices.Concat(f.general, f.special) {
		if w, err = w.turn(t.knob, t.which, t.text); err != nil {
			return w, fmt.Errorf("--%s: %w", t.name, err)
		}
	}
	for i := range w {
		if w[i].path.Queue > 0 && w[i].path.Rate == 0 {
			return w, errors.New("--queue needs --rate: an unlimited link has no queue")
		}
	}
	return w, nil
}

func setDuration(d *time.Duration, text string) error {
	v, err := time.ParseDuration(text)
	if text == "off" {
		v, err = 0, nil
	}
	if err != nil || v < 0 || v > simulate.MaxDelay {
		return errors.New("want a duration such as 20ms or 1.5s, at most 24h")
	}
	*d = v
	return nil
}

func setSize(n *int, text string) error {
	var v int64
	err := byteSize(&v, 0, 1<<30).Set(text)
	*n = int(v)
	return err
}

// setGilbertElliott takes the four chances of the model.
func setGilbertElliott(w *way, text string) error {
	if text == "off" {
		w.path.Bad = netsim.BadState{}
		return nil
	}
	chances := []float64{0, 0, 100, 0}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
	for i, part := range parts {
		if i == len(chances) || (percent{&chances[i]}).Set(part) != nil {
			parts = nil
			break
		}
	}
	if len(parts) < 2 {
		return errors.New("want 2 to 4 numbers from 0 to 100, such as 1,25 or 1,25,80,0.1")
	}
	w.path.Bad = netsim.BadState{Enter: chances[0], Leave: chances[1], Loss: chances[2]}
	w.path.Loss = chances[3]
	return nil
}

func showGilbertElliott(w *way) string {
	b := w.path.Bad
	if b == (netsim.BadState{}) {
		return ""
	}
	return fmt.Sprintf("%g,%g,%g,%g", b.Enter, b.Leave, b.Loss, w.path.Loss)
}

// The values of knobs as set takes them, and nothing for what is off.

// only is for what matters with something else.
func only(matters bool, value string) string {
	if !matters {
		return ""
	}
	return value
}

func showDuration(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func showNumber(v float64) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func showQuantity(unit func(*int64, int64) pflag.Value, v int64) string {
	if v == 0 {
		return ""
	}
	return unit(new(int64), v).String()
}

func showSize(n int) string {
	return showQuantity(func(value *int64, preset int64) pflag.Value { return byteSize(value, preset, 1<<30) }, int64(n))
}
