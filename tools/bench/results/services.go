package main

import (
	"fmt"
	"os"
	"strings"
	"text/template"

	"github.com/chunkwire/chunkwire/tools/bench"
)

// serviceReport writes SERVICES.md.
func serviceReport(r *bench.Result) error {
	versions, err := versions("github.com/xtaci/kcp-go/v5", "github.com/quic-go/quic-go")
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := servicePage.Execute(&b, map[string]any{
		"Seeds": r.Seeds, "Commit": r.Commit, "Versions": versions, "Peers": bench.ServicePeers(),
		"Table": serviceTable(r), "Behind": servicesBehind(r),
	}); err != nil {
		return err
	}
	return os.WriteFile("SERVICES.md", []byte(b.String()), 0o644)
}

func serviceRows(r *bench.Result) (rows []bench.Row) {
	for _, row := range r.Rows {
		if row.Experiment == bench.Services && row.Services != nil {
			rows = append(rows, row)
		}
	}
	return rows
}

func serviceTable(r *bench.Result) string {
	var b strings.Builder
	b.WriteString("| path | protocol | packets alone, 95th | beside, median | beside, 95th | arrived | block alone | beside | 95th | bytes |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	for _, row := range serviceRows(r) {
		f, name := row.Services, row.Peer
		if row.Failed > 0 {
			name += fmt.Sprintf(" (%d of %d gave up)", row.Failed, row.Runs)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %.1f %% | %s | %s | %s | %.2f |\n", row.Cell, name, ms(f.Alone), ms(f.MedianBeside), ms(f.Beside),
			100*f.Arrived, ms(f.BlockAlone), ms(f.Block), ms(row.P95), row.Bytes)
	}
	return b.String()
}

// servicesBehind lists where another is ahead of ours, by 5 ms at least.
func servicesBehind(r *bench.Result) string {
	var b strings.Builder
	ours := map[string]bench.Row{}
	for _, row := range serviceRows(r) {
		if row.Peer == bench.ServicePeers()[0].Name {
			ours[row.Cell] = row
		}
	}
	for _, row := range serviceRows(r) {
		mine, ok := ours[row.Cell]
		if !ok || row.Peer == mine.Peer {
			continue
		}
		for _, f := range []struct {
			name      string
			its, ours int64
		}{
			{"packets beside the block, 95th", row.Services.Beside.Milliseconds(), mine.Services.Beside.Milliseconds()},
			{"block beside packets, median", row.Median.Milliseconds(), mine.Median.Milliseconds()},
		} {
			if f.ours-f.its >= 5 {
				fmt.Fprintf(&b, "- %s, %s: %s %d ms, ours %d ms.\n", row.Cell, row.Peer, f.name, f.its, f.ours)
			}
		}
	}
	return b.String()
}

var servicePage = template.Must(template.ParseFS(templates, "services.md.tmpl"))
