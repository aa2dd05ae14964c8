package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/measure"
)

// leastShare is the part of the positions that the network lets through which must
// arrive.
const leastShare = 0.8

// serviceReport is what the summary says of what all connections sent over a channel.
type serviceReport struct {
	tallyCounts
	SharePercent *float64  `json:"share_percent"` // of the messages due that arrived
	AgeMS        *quantile `json:"age_ms"`        // from the send call to its reader
}

// playReport is the summary.
type playReport struct {
	Kind    string  `json:"kind"`
	OK      bool    `json:"ok"`
	Error   string  `json:"error,omitempty"`
	Seconds float64 `json:"seconds"`
	Clients int     `json:"clients"`
	Mode    string  `json:"mode"`
	Seed    uint64  `json:"seed"`
	pathReport
	World       int64         `json:"world"` // bytes
	Positions   serviceReport `json:"positions"`
	Chat        serviceReport `json:"chat"`
	Inventory   serviceReport `json:"inventory"`
	Worlds      int           `json:"worlds"`       // that are due, one for each connection that was not killed
	WorldsWhole int           `json:"worlds_whole"` // that arrived
	WorldMS     *quantile     `json:"world_ms"`
	MovedMS     *float64      `json:"moved_ms"`     // until the server heard the client that moved
	RevivedMS   *float64      `json:"revived_ms"`   // until the client that was killed had a connection again
	PathPercent *float64      `json:"path_percent"` // of the datagrams that the relay delivered
	LostUp      int64         `json:"lost_up"`
	LostDown    int64         `json:"lost_down"`
	QueueDrop   int64         `json:"queue_dropped"`
	Datagrams   int64         `json:"datagrams"` // that the relay got
	Bytes       int64         `json:"bytes"`
	Faults      []string      `json:"faults"`
}

// judge sums up the game, and finds what did not arrive as promised.
func (g *game) judge() playReport {
	r := playReport{
		Kind: "summary", Clients: g.flags.clients, Mode: g.flags.mode, Seed: g.flags.seed,
		pathReport: g.flags.pathFlags.report(), World: g.flags.world, Seconds: time.Since(g.start).Seconds(),
		Faults: []string{},
	}
	var ages [numChannels][]float64
	var worlds []float64
	for _, l := range g.links() {
		for on, service := range []*serviceReport{&r.Positions, &r.Chat, &r.Inventory} {
			for _, t := range []*tally{l.up[on], l.down[on]} {
				counts := t.counts()
				service.add(counts)
				ages[on] = append(ages[on], t.agesFrom(0)...)
				r.Faults = append(r.Faults, t.wrong()...)
				if missing := counts.missing(); missing > 0 && t.kind != channel.Unreliable {
					r.Faults = append(r.Faults, fmt.Sprintf("%s: %d of %d did not arrive", t.name, missing, counts.Due))
				}
			}
		}
		if l.isKilled() {
			continue
		}
		if l.isAway() {
			r.Faults = append(r.Faults, l.name()+" was not heard from its new address")
		}
		r.Worlds++
		if l.hasWorld() {
			worlds = append(worlds, l.worldMS)
		} else {
			r.Faults = append(r.Faults, l.name()+" did not get the world")
		}
	}
	for on, service := range []*serviceReport{&r.Positions, &r.Chat, &r.Inventory} {
		service.SharePercent, service.AgeMS = service.share(), measure.Quantiles(ages[on])
	}
	r.WorldsWhole, r.WorldMS = len(worlds), measure.Quantiles(worlds)
	g.judgePath(&r)
	g.mu.Lock()
	defer g.mu.Unlock()
	r.Faults = append(r.Faults, g.faults...)
	for to, took := range map[**float64]time.Duration{&r.MovedMS: g.moved, &r.RevivedMS: g.revived} {
		if took > 0 {
			ms := milliseconds(took)
			*to = &ms
		}
	}
	return r
}

// judgePath compares the positions that arrived with what the network let through.
func (g *game) judgePath(r *playReport) {
	up, down := g.relay.Stats()
	r.LostUp, r.LostDown, r.QueueDrop = up.LostRandom, down.LostRandom, up.LostQueue+down.LostQueue
	r.Datagrams, r.Bytes = up.Sent+down.Sent, up.SentBytes+down.SentBytes
	if r.Datagrams == 0 {
		return
	}
	path := 100 * (1 - float64(r.LostUp+r.LostDown+r.QueueDrop)/float64(r.Datagrams))
	r.PathPercent = &path
	if share := r.Positions.SharePercent; share != nil && *share < leastShare*path {
		r.Faults = append(r.Faults, fmt.Sprintf("%.1f %% of the positions arrived, of %.1f %% that the network let through", *share, path))
	}
}

// playView is where the game is shown.
type playView interface {
	second(n int, rows []playRow) error
	event(at time.Duration, client int, what string)
	summary(g *game, r playReport, err error) error
}

// event notes something of a client.
func (g *game) event(p *player, what string) {
	g.view.event(time.Since(g.start), p.number, what)
}

// playRow is a client, for a second.
type playRow struct {
	Client      int         `json:"client"`
	Connection  int         `json:"connection"` // which of the client's
	RTTms       *float64    `json:"rtt_ms"`
	LossPercent *float64    `json:"loss_percent"` // of the last ten seconds
	Positions   *float64    `json:"positions_percent"`
	AgeP95      *float64    `json:"position_age_p95_ms"` // in this second
	Chat        tallyCounts `json:"chat"`
	Inventory   tallyCounts `json:"inventory"`
	World       bool        `json:"world"`

	state string
}

// showSeconds shows a row for each client each second, until the function that it
// returns is called.
func (g *game) showSeconds() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		seen := map[*tally]int{}
		for n := 1; ; n++ {
			select {
			case <-tick.C:
				_ = g.view.second(n, g.rows(seen)) // if it cannot be shown, the summary says so
			case <-done:
				return
			}
		}
	}()
	return func() { close(done); <-ended }
}

// rows returns the latest connection of each client. seen is how many ages of positions
// were in rows before.
func (g *game) rows(seen map[*tally]int) (rows []playRow) {
	for _, p := range g.players {
		l := g.link(p)
		if l == nil {
			continue
		}
		row := playRow{Client: p.number, Connection: l.number, World: l.hasWorld(), state: l.state()}
		if client := l.atClient(); client != nil {
			known := client.Stats().Path
			if known.Measured {
				ms := milliseconds(known.SRTT.Duration())
				row.RTTms = &ms
			}
			if perMille, ok := known.LossPerMille(); ok {
				loss := float64(perMille) / 10
				row.LossPercent = &loss
			}
		}
		var positions tallyCounts
		var ages []float64
		for _, t := range []*tally{l.up[onPositions], l.down[onPositions]} {
			positions.add(t.counts())
			latest := t.agesFrom(seen[t])
			seen[t] += len(latest)
			ages = append(ages, latest...)
		}
		row.Positions = positions.share()
		if q := measure.Quantiles(ages); q != nil {
			row.AgeP95 = &q.P95
		}
		for _, t := range []*tally{l.up[onChat], l.down[onChat]} {
			row.Chat.add(t.counts())
		}
		for _, t := range []*tally{l.up[onInventory], l.down[onInventory]} {
			row.Inventory.add(t.counts())
		}
		rows = append(rows, row)
	}
	return rows
}

func (l *gameLink) state() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.killed:
		return "killed"
	case !l.movedAt.IsZero():
		return "moving"
	case l.number > 1:
		return "back"
	}
	return "on"
}

// playLines shows the game to people: a table that redraws itself on a terminal, a
// line a second in a pipe.
type playLines struct {
	screen
	mu    *sync.Mutex
	drawn int // lines of the table that are on the screen
}

func newPlayLines(s screen) playView { return &playLines{screen: s, mu: new(sync.Mutex)} }

// playRowFormat fits into 80 columns.
const playRowFormat = "%2v  %-6s  %8s  %6s  %9s  %6s  %9s  %9s  %5s"

var playHeading = fmt.Sprintf(playRowFormat, "id", "state", "ping", "loss", "positions", "95th", "chat", "inventory", "world")

func (v *playLines) event(at time.Duration, client int, what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.erase()
	line := fmt.Sprintf("%.1f s  client %d %s", at.Seconds(), client, what)
	if v.live {
		line = v.cut(line)
	}
	fmt.Fprintln(v.w, line)
}

// erase removes the table.
func (v *playLines) erase() {
	if v.drawn > 0 {
		fmt.Fprintf(v.w, "\x1b[%dA\x1b[J", v.drawn)
		v.drawn = 0
	}
}

func (v *playLines) second(n int, rows []playRow) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.live {
		_, err := fmt.Fprintf(v.w, "%3d s  %s\n", n, total(rows))
		return err
	}
	v.erase()
	lines := []string{playHeading}
	for _, r := range rows {
		lines = append(lines, r.String())
	}
	for i, line := range lines {
		lines[i] = v.cut(line)
	}
	v.drawn = len(lines)
	_, err := io.WriteString(v.w, strings.Join(lines, "\n")+"\n")
	return err
}

// String is the row of a table.
func (r playRow) String() string {
	world := "-"
	if r.World {
		world = "whole"
	}
	of := func(c tallyCounts) string { return fmt.Sprintf("%d/%d", c.Arrived, c.Sent) }
	return fmt.Sprintf(playRowFormat, r.Client, r.state,
		figure("%.1f ms", r.RTTms), figure("%.1f %%", r.LossPercent), figure("%.1f %%", r.Positions), figure("%.0f ms", r.AgeP95),
		of(r.Chat), of(r.Inventory), world)
}

// total is a line for all clients.
func total(rows []playRow) string {
	var chat, inventory tallyCounts
	var oldest, fewest *float64
	worlds := 0
	for _, r := range rows {
		chat.add(r.Chat)
		inventory.add(r.Inventory)
		if r.AgeP95 != nil && (oldest == nil || *r.AgeP95 > *oldest) {
			oldest = r.AgeP95
		}
		if r.Positions != nil && (fewest == nil || *r.Positions < *fewest) {
			fewest = r.Positions
		}
		if r.World {
			worlds++
		}
	}
	return fmt.Sprintf("positions %s, 95th %s; chat %d/%d; inventory %d/%d; worlds %d/%d",
		figure("%.1f %%", fewest), figure("%.0f ms", oldest), chat.Arrived, chat.Sent, inventory.Arrived, inventory.Sent, worlds, len(rows))
}

func (v *playLines) summary(g *game, r playReport, err error) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.drawn = 0 // the last table stays
	rows := [][]string{{"", "sent", "due", "arrived", "age: median", "95th", "max, ms"}}
	for _, s := range []struct {
		name string
		serviceReport
	}{{"positions", r.Positions}, {"chat", r.Chat}, {"inventory", r.Inventory}} {
		row := []string{s.name, fmt.Sprint(s.Sent), fmt.Sprint(s.Due), figure("%.1f %%", s.SharePercent)}
		rows = append(rows, append(row, strings.Split(cells(s.AgeMS), "\t")...))
	}
	world := []string{"world", fmt.Sprint(r.Worlds), fmt.Sprint(r.Worlds), fmt.Sprint(r.WorldsWhole)}
	rows = append(rows, append(world, strings.Split(cells(r.WorldMS), "\t")...))
	fmt.Fprintln(v.w)
	if !v.table(rows) {
		for _, row := range rows[1:] {
			v.print(fmt.Sprintf("%s: %s sent, %s due, %s arrived; %s, %s, %s ms", row[0], row[1], row[2], row[3], row[4], row[5], row[6]))
		}
	}
	v.print(fmt.Sprintf("relay: %d datagrams, %s; lost %d of the clients', %d of the server's; queue dropped %d",
		r.Datagrams, formatBytes(float64(r.Bytes)), r.LostUp, r.LostDown, r.QueueDrop))
	for _, fault := range r.Faults {
		v.print("not as promised: " + fault)
	}
	if err == nil {
		v.print("chat in order, inventory once, worlds whole, no position twice: all as promised")
	}
	return nil
}

// playObjects shows JSON.
type playObjects struct {
	mu *sync.Mutex
	*json.Encoder
}

func newPlayObjects(w io.Writer) playView { return playObjects{new(sync.Mutex), json.NewEncoder(w)} }

func (o playObjects) encode(v any) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Encode(v)
}

func (o playObjects) second(n int, rows []playRow) error {
	return o.encode(struct {
		Kind   string    `json:"kind"`
		Second int       `json:"second"`
		Rows   []playRow `json:"rows"` // one for each client
	}{"second", n, rows})
}

func (o playObjects) event(at time.Duration, client int, what string) {
	_ = o.encode(struct {
		Kind   string  `json:"kind"`
		At     float64 `json:"at"` // seconds
		Client int     `json:"client"`
		What   string  `json:"what"`
	}{"event", at.Seconds(), client, what})
}

func (o playObjects) summary(_ *game, r playReport, err error) error {
	r.OK = err == nil
	if err != nil {
		r.Error = sentence(err)
	}
	return o.encode(r)
}
