package main

import (
	"flag"
	"fmt"
	"regexp"
	"runtime"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/lanes"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/sim/flows"
	"github.com/chunkwire/chunkwire/sim/flows/tcp"
)

const ms = time.Millisecond
const sec = machine.Second

type net struct {
	name string
	p    flows.Path
	dur  machine.Micros
}

func path(rate int64, rtt time.Duration, q int, loss float64) flows.Path {
	d := netsim.Path{Rate: rate, Delay: rtt / 2, Queue: q, Overhead: 28, Loss: loss}
	return flows.Path{Down: d, Up: d}
}
func up(p flows.Path, f func(*netsim.Path)) flows.Path { f(&p.Up); return p }
func down(p flows.Path, f func(*netsim.Path)) flows.Path {
	f(&p.Down)
	return p
}
func both(p flows.Path, f func(*netsim.Path)) flows.Path { f(&p.Down); f(&p.Up); return p }

var nets = []net{
	{"S2", path(10e6, 50*ms, 256<<10, 0), 40 * sec},
	{"S3", path(1e6, 100*ms, 64<<10, 0), 120 * sec},
	{"M", path(20e6, 30*ms, 64<<10, 0), 30 * sec},
	{"F16", path(5e6, 40*ms, 16<<10, 0), 40 * sec},
	{"F64", path(5e6, 40*ms, 64<<10, 0), 40 * sec},
	{"F256", path(5e6, 40*ms, 256<<10, 0), 40 * sec},
}

type cell struct {
	name string
	run  func() string
}

func (n net) streams(k, lanesN int, repair bool, gap machine.Micros, seed uint64) string {
	w, err := flows.NewWorld(n.p, seed)
	if err != nil {
		panic(err)
	}
	var all []*flows.Flow
	for i := range k {
		f, err := w.AddChunks("f", flows.Options{Start: machine.Micros(i)*gap + machine.Micros(i*137), Lanes: lanes.Config{Lanes: lanesN, Repair: repair}})
		if err != nil {
			panic(err)
		}
		all = append(all, f.Flow)
	}
	from := machine.Micros(k-1) * gap / flows.Slot * flows.Slot
	end := from + n.dur
	w.Run(end)
	f := w.Figures(flows.Down, from+n.dur/10, end, all...)
	return fmt.Sprintf("J %.2f res %5.1f%% lost %5.1f%% use %.2f q %4.0f/%4.0f", f.Jain, 100*f.Resent, 100*f.LostQueue, f.Use, f.Wait.Mean, f.Wait.P95)
}

func chunks(p flows.Path, k, before, num int, repair bool, size int, read machine.Micros, seed uint64) string {
	w, err := flows.NewWorld(p, seed)
	if err != nil {
		panic(err)
	}
	var all []*flows.Chunks
	var fl []*flows.Flow
	for i := range k {
		f, err := w.AddChunks("f", flows.Options{Start: machine.Micros(i * 137), Chunks: num, Waiting: 1, Sizes: sizes(size), ReadEvery: read, Lanes: lanes.Config{Lanes: 1, Repair: repair}})
		if err != nil {
			panic(err)
		}
		all = append(all, f)
		fl = append(fl, f.Flow)
	}
	done := machine.Never
	for w.Now() < 300*sec {
		w.Run(w.Now() + sec)
		done = 0
		for _, f := range all {
			done = max(done, f.Done())
		}
		if done != machine.Never {
			break
		}
	}
	f := w.Figures(flows.Down, 0, w.Now(), fl...)
	times := ""
	if k == 1 {
		for i, c := range all[0].Delivered(0) {
			if i < 8 {
				times += fmt.Sprintf(" %d", (c.Delivered-c.Submitted)/1000)
			}
		}
	}
	return fmt.Sprintf("J %.2f lost %5.1f%% bytes %.2f time %7d ms q %4.0f/%4.0f %s", f.Jain, 100*f.LostQueue, float64(f.Total.Data)/float64(max(f.Total.News, 1)), done/1000, f.Wait.Mean, f.Wait.P95, times)
}

func sizes(n int) []int {
	if n == 0 {
		return nil
	}
	return []int{n}
}

func beside(n net, m tcp.Model, oursAt, itsAt machine.Micros, lanesN int, repair bool) string {
	w, err := flows.NewWorld(n.p, 1)
	if err != nil {
		panic(err)
	}
	f, err := w.AddChunks("f", flows.Options{Start: oursAt, Lanes: lanes.Config{Lanes: lanesN, Repair: repair}})
	if err != nil {
		panic(err)
	}
	a, b := tcp.New(tcp.Config{Model: m, Start: itsAt})
	o := w.Add("tcp", a, b)
	end := n.dur * 3
	w.Run(end)
	g := w.Figures(flows.Down, end/4/flows.Slot*flows.Slot, end, f.Flow, o)
	secs := float64(end-end/4) / 1e6
	x, y := float64(g.Shares[0])*8/1e6/secs, float64(g.Shares[1])*8/1e6/secs
	bad := ""
	if x*3 < y || y*3 < x {
		bad = "!"
	}
	return fmt.Sprintf("%5.2f : %5.2f%1s lost %4.1f%% q%4.0f", x, y, bad, 100*g.LostQueue, g.Wait.Mean)
}

func main() {
	set := flag.String("set", "streams", "")
	only := flag.String("only", "", "")
	lanesN := flag.Int("lanes", 8, "")
	named := flag.Bool("named", false, "")
	gap := flag.Int64("gap", 0, "ms")
	flag.Parse()
	re := regexp.MustCompile(*only)
	repair := !*named
	var cells []cell
	add := func(name string, run func() string) {
		if re.MatchString(name) {
			cells = append(cells, cell{name, run})
		}
	}
	switch *set {
	case "beside":
		for _, n := range nets[:3] {
			for i, m := range []tcp.Model{tcp.NewReno, tcp.Cubic, tcp.QuicGo, tcp.Turbo} {
				add(fmt.Sprintf("%s %s", n.name, []string{"reno", "cubic", "quicgo", "turbo"}[i]), func() string {
					return "ours first " + beside(n, m, 0, 3*sec, *lanesN, repair) + " | it first " + beside(n, m, 3*sec, 0, *lanesN, repair)
				})
			}
		}
	case "streams":
		for _, n := range nets {
			for _, k := range []int{1, 2, 4, 8, 16} {
				add(fmt.Sprintf("%s %d", n.name, k), func() string { return n.streams(k, *lanesN, repair, machine.Micros(*gap)*1000, 1) })
			}
		}
	case "chunks":
		for _, n := range nets {
			for _, k := range []int{1, 2, 4, 8, 16} {
				add(fmt.Sprintf("%s %d", n.name, k), func() string { return chunks(n.p, k, 0, 1, repair, 0, 0, 1) })
			}
		}
	case "fam":
		jit := func(d time.Duration) func(*netsim.Path) { return func(p *netsim.Path) { p.Jitter = d } }
		type fam struct {
			name string
			p    flows.Path
			n    int
			size int
			read machine.Micros
		}
		pol := func(rate int64, burst int, link int64, rtt time.Duration) flows.Path {
			return down(path(link, rtt, 1<<20, 0), func(p *netsim.Path) { p.PoliceRate, p.PoliceBurst = rate, burst })
		}
		change := func(a, b flows.Path, at machine.Micros) flows.Path {
			a.Changes = []flows.Change{{At: at, Down: b.Down, Up: b.Up}}
			return a
		}
		for _, f := range []fam{
			{"1 M", path(20e6, 30*ms, 64<<10, 0), 40, 0, 0},
			{"1 M jitter 10", both(path(20e6, 30*ms, 64<<10, 0), jit(10*ms)), 40, 0, 0},
			{"1 S2 jitter 30", both(path(10e6, 50*ms, 256<<10, 0), jit(30*ms)), 40, 0, 0},
			{"1 S3 jitter 30", both(path(1e6, 100*ms, 64<<10, 0), jit(30*ms)), 20, 0, 0},
			{"1 50M 80ms q32K", path(50e6, 80*ms, 32<<10, 0), 40, 0, 0},
			{"1 100M 20ms q16K", path(100e6, 20*ms, 16<<10, 0), 40, 0, 0},
			{"5 2M q64K bothways", path(2e6, 40*ms, 64<<10, 0), 8, 0, 0},
			{"6 police 1M 32K/100M", pol(1e6, 32<<10, 100e6, 50*ms), 16, 0, 0},
			{"6 police 10M 32K/100M", pol(10e6, 32<<10, 100e6, 50*ms), 40, 0, 0},
			{"6 police 8M 8K/100M", pol(8e6, 8<<10, 100e6, 30*ms), 40, 0, 0},
			{"6 police 2M 64K/50M", pol(2e6, 64<<10, 50e6, 80*ms), 16, 0, 0},
			{"6 police 5M 128K/20M", pol(5e6, 128<<10, 20e6, 20*ms), 40, 0, 0},
			{"7 small 8K 1%", path(20e6, 60*ms, 256<<10, 1), 20, 8 << 10, 0},
			{"7 small 20K 2%", path(20e6, 60*ms, 256<<10, 2), 20, 20 << 10, 0},
			{"8 slow reader 200", path(100e6, 50*ms, 1<<20, 0), 10, 0, 200 * 1000},
			{"8 slow reader 10", path(100e6, 1*ms, 1<<20, 0), 20, 0, 10 * 1000},
			{"9 tick 20", up(path(20e6, 40*ms, 256<<10, 0), func(p *netsim.Path) { p.Tick = 20 * ms }), 8, 0, 0},
			{"9 tick 50 both", both(path(20e6, 40*ms, 256<<10, 0), func(p *netsim.Path) { p.Tick = 50 * ms }), 8, 0, 0},
			{"10 rtt 10-100", change(path(50e6, 10*ms, 256<<10, 0), path(50e6, 100*ms, 256<<10, 0), 2*sec/10), 20, 0, 0},
			{"10 rtt 20-200 S2", change(path(10e6, 20*ms, 256<<10, 0), path(10e6, 200*ms, 256<<10, 0), sec), 20, 0, 0},
			{"10 rtt 100-10", change(path(50e6, 100*ms, 256<<10, 0), path(50e6, 10*ms, 256<<10, 0), sec), 20, 0, 0},
			{"11 loss 60 5M", path(5e6, 40*ms, 128<<10, 60), 8, 0, 0},
			{"11 loss 55 20M", path(20e6, 40*ms, 128<<10, 55), 8, 0, 0},
			{"11 loss 60 100M", path(100e6, 40*ms, 1<<20, 60), 8, 0, 0},
			{"12 thin 128k up", up(path(50e6, 40*ms, 256<<10, 0), func(p *netsim.Path) { p.Rate = 128e3; p.Queue = 32 << 10 }), 8, 0, 0},
			{"12 thin 32k up", up(path(20e6, 40*ms, 256<<10, 0), func(p *netsim.Path) { p.Rate = 32e3; p.Queue = 16 << 10 }), 8, 0, 0},
			{"13 cold 64K 1M q48K", path(1e6, 40*ms, 48<<10, 0), 1, 64 << 10, 0},
			{"13 cold 256K 1M q48K", path(1e6, 40*ms, 48<<10, 0), 1, 0, 0},
			{"13 cold 256K 10M q16K", path(10e6, 50*ms, 16<<10, 0), 3, 0, 0},
			{"14 rise 1-100M", change(path(1e6, 40*ms, 256<<10, 0), path(100e6, 40*ms, 256<<10, 0), 5*sec), 12, 0, 0},
			{"14 fall 100-10M", change(path(100e6, 40*ms, 256<<10, 0), path(10e6, 40*ms, 256<<10, 0), sec), 20, 0, 0},
			{"14 fall 10-1M", change(path(10e6, 40*ms, 64<<10, 0), path(1e6, 40*ms, 64<<10, 0), sec), 10, 0, 0},
		} {
			add(f.name, func() string { return chunks(f.p, 1, 0, f.n, repair, f.size, f.read, 1) })
		}
	}
	out := make([]string, len(cells))
	done := make([]chan bool, len(cells))
	var next sync.Mutex
	i := 0
	for j := range done {
		done[j] = make(chan bool)
	}
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for {
				next.Lock()
				j := i
				i++
				next.Unlock()
				if j >= len(cells) {
					return
				}
				out[j] = cells[j].run()
				close(done[j])
			}
		}()
	}
	t := time.Now()
	for j, c := range cells {
		<-done[j]
		fmt.Printf("%-24s %s\n", c.name, out[j])
	}
	fmt.Println(time.Since(t))
}
