package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/tools/bench"
)

// flowSets are those of conform/sim/flows/tables that are shown, with the figures of each.
var flowSets = []struct {
	name, title string
	figures     []string
}{
	{"together", "Streams that share a path", []string{"Jain", "use", "dropped %", "resent %", "wait ms", "95th"}},
	{"chunks", "Single cold chunks at once", []string{"median", "all ms", "ideal", "bytes", "dropped %"}},
	{"beside", "Streams beside models of TCP", []string{"ours", "theirs", "dropped %", "wait ms"}},
	{"latecomers", "A second stream, 30 s later: what it has over the first", []string{"0-20 s", "20-40 s", "40-60 s", "100-120 s", "wait ms"}},
	{"changes", "A stream whose path becomes another after 20 s, and the first again after 50", []string{"80 % after s", "use then", "80 % again s", "use again", "dropped %", "resent %"}},
	{"ablation", "A rule left out", []string{"Jain", "use", "dropped %", "resent %", "wait ms", "95th"}},
}

// mostFlowSeeds is the most seeds for each cell: all cells take minutes.
const mostFlowSeeds = 1

// measureFlows runs conform/sim/flows/tables, without sockets.
func measureFlows(seeds int) (cells []bench.FlowCell, err error) {
	for _, set := range flowSets {
		cmd := exec.Command("go", "run", "./conform/sim/flows/tables", "--set", set.name, "--seeds", strconv.Itoa(seeds), "--json")
		cmd.Dir, cmd.Stderr = "../..", os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("conform/sim/flows/tables: %w", err)
		}
		some, err := readFlows(out)
		if err != nil {
			return nil, err
		}
		cells = append(cells, some...)
	}
	return cells, nil
}

// readFlows reads an object a line, and keeps the median of the seeds.
func readFlows(lines []byte) (cells []bench.FlowCell, err error) {
	in := json.NewDecoder(bytes.NewReader(lines))
	for {
		var one struct {
			Set, Cell string
			Figures   map[string][]*float64
		}
		err := in.Decode(&one)
		if errors.Is(err, io.EOF) {
			return cells, nil
		}
		if err != nil {
			return nil, fmt.Errorf("conform/sim/flows/tables: %w", err)
		}
		cell := bench.FlowCell{Set: one.Set, Name: one.Cell, Figures: make(map[string]float64)}
		for name, seeds := range one.Figures {
			seeds = slices.DeleteFunc(seeds, func(f *float64) bool { return f == nil })
			if len(seeds) > 0 {
				slices.SortFunc(seeds, func(a, b *float64) int { return cmp.Compare(*a, *b) })
				cell.Figures[name] = *seeds[(len(seeds)-1)/2]
			}
		}
		cells = append(cells, cell)
	}
}

// flows makes a table of each set: what is now, and behind it what an earlier version had.
func (c citizen) flows() string {
	old := make(map[string]bench.FlowCell)
	for _, r := range c.old {
		for _, cell := range r.Flows {
			old[cell.Set+": "+cell.Name] = cell
		}
	}
	var b strings.Builder
	for _, set := range flowSets {
		fmt.Fprintf(&b, "\n### %s\n\n| | %s |\n|---|%s\n", set.title, strings.Join(set.figures, " | "), strings.Repeat("---:|", len(set.figures)))
		for _, cell := range c.now.Flows {
			if cell.Set != set.name {
				continue
			}
			fmt.Fprintf(&b, "| %s |", cell.Name)
			for _, name := range set.figures {
				fmt.Fprintf(&b, " %s |", nowAndThen(name, cell, old[cell.Set+": "+cell.Name]))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func nowAndThen(name string, now, then bench.FlowCell) string {
	figure := func(cell bench.FlowCell) string {
		f, ok := cell.Figures[name]
		switch {
		case !ok:
			return ""
		case f >= 100:
			return fmt.Sprintf("%.0f", f)
		case strings.HasSuffix(name, "%"):
			return fmt.Sprintf("%.1f", f)
		}
		return fmt.Sprintf("%.2f", f)
	}
	text := figure(now)
	if before := figure(then); before != "" && before != text {
		text += " (" + before + ")"
	}
	return text
}
