// Command ablation measures what the rules of spec/CHANNELS.md are worth. It builds itself
// once for each variation, with some lines of package channel replaced, and prints the
// figures of each below those of the protocol as it is specified. Run it in the
// repository's root:
//
//	go run ./conform/sim/channel/ablation                            # all variations, 20 seeds
//	go run ./conform/sim/channel/ablation -seeds 100 -match OVERTAKEN
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/chunkwire/chunkwire/conform/sim/channel"
)

func main() {
	seeds := flag.Int("seeds", 20, "runs of each figure")
	match := flag.String("match", "", "only variations whose name matches this regular expression")
	scenario := flag.String("scenario", "", "only measure this scenario with this build, and print JSON")
	flag.Parse()
	var err error
	if *scenario != "" {
		err = measure(*scenario, *seeds)
	} else {
		err = compare(*seeds, *match)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ablation:", err)
		os.Exit(1)
	}
}

// measure prints the figures of a scenario.
func measure(name string, seeds int) error {
	w, ok := scenarios[name]
	if !ok {
		return fmt.Errorf("no scenario %q", name)
	}
	f, err := channel.Measure(w, 1, seeds, nil)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

// compare prints a table of the variations that match.
func compare(seeds int, match string) error {
	pattern, err := regexp.Compile(match)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ablation-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := builds{dir: dir, seeds: seeds, known: map[string]channel.Figures{}}
	plain := variation{name: "as specified"}
	fmt.Println("| where | variation | delay: median, 95th, max (ms) | all read after the last send: median, 95th, max (ms) | later than 4 round trips | sent again | needless | datagrams of sender, reader | bytes of the reader |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, v := range variations {
		if !pattern.MatchString(v.name) {
			continue
		}
		for _, where := range v.where {
			for _, one := range []variation{plain, v} {
				f, err := b.figures(one, where)
				if err != nil {
					return fmt.Errorf("%s: %w", one.name, err)
				}
				printRow(where, one.name, f)
			}
		}
	}
	return nil
}

func printRow(where, name string, f channel.Figures) {
	ms := func(q channel.Quantiles) string {
		return fmt.Sprintf("%.0f, %.0f, %.0f", float64(q.Median)/1000, float64(q.P95)/1000, float64(q.Max)/1000)
	}
	fmt.Printf("| %s | %s | %s | %s | %.1f %% | %.2f %% | %.3f %% | %.0f, %.0f | %.0f |\n",
		where, name, ms(f.Delay), ms(f.Last), 100*f.Late, 100*f.Again, 100*f.Needless, f.DatagramsDown, f.DatagramsUp, f.BytesUp)
}

// builds are this program with variations of package channel.
type builds struct {
	dir   string
	seeds int
	known map[string]channel.Figures // by variation and scenario
}

// figures measures a scenario with a variation, once.
func (b *builds) figures(v variation, where string) (f channel.Figures, err error) {
	key := v.name + "\n" + where
	if f, ok := b.known[key]; ok {
		return f, nil
	}
	binary, err := b.build(v)
	if err != nil {
		return f, err
	}
	cmd := exec.Command(binary, "-scenario", where, "-seeds", fmt.Sprint(b.seeds))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return f, err
	}
	err = json.Unmarshal(out, &f)
	b.known[key] = f
	return f, err
}

// build compiles this program with a variation, once.
func (b *builds) build(v variation) (binary string, err error) {
	binary = filepath.Join(b.dir, fmt.Sprintf("%x", v.name))
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	texts, err := v.apply("channel")
	if err != nil {
		return "", err
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, text := range texts {
		changed := filepath.Join(b.dir, name)
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return "", err
		}
		path, err := filepath.Abs(filepath.Join("channel", name))
		if err != nil {
			return "", err
		}
		overlay.Replace[path] = changed
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-overlay", file, "-o", binary, "./conform/sim/channel/ablation").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}
