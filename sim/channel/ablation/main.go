// Command ablation measures what the rules of spec/CHANNELS.md are worth. It builds itself
// once for each variation, with a line or two of package channel replaced, and prints the
// figures of each beside those of the protocol as it is.
//
//	go run ./sim/channel/ablation                 # all variations, 20 seeds
//	go run ./sim/channel/ablation -seeds 100 -match OVERTAKEN
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/chunkwire/chunkwire/sim/channel"
)

func main() {
	seeds := flag.Int("seeds", 20, "runs of each figure")
	match := flag.String("match", "", "only variations whose name matches this regular expression")
	one := flag.String("scenario", "", "measure one scenario with this build, and print JSON")
	flag.Parse()
	if err := run(*seeds, *match, *one); err != nil {
		fmt.Fprintln(os.Stderr, "ablation:", err)
		os.Exit(1)
	}
}

func run(seeds int, match, one string) error {
	if one != "" {
		return measure(one, seeds)
	}
	pattern, err := regexp.Compile(match)
	if err != nil {
		return err
	}
	if _, err := os.Stat("go.mod"); err != nil {
		return errors.New("run this in the repository's root")
	}
	dir, err := os.MkdirTemp("", "ablation-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	plain, err := build(dir, variation{name: "as specified"})
	if err != nil {
		return err
	}
	for _, v := range variations {
		if !pattern.MatchString(v.name) {
			continue
		}
		changed, err := build(dir, v)
		if err != nil {
			return err
		}
		for _, s := range v.where {
			fmt.Printf("%s: %s\n", v.name, s)
			for _, b := range []struct{ name, binary string }{{"as specified", plain}, {v.name, changed}} {
				f, err := ask(b.binary, s, seeds)
				if err != nil {
					return fmt.Errorf("%s: %w", v.name, err)
				}
				print(b.name, f)
			}
		}
	}
	return nil
}

// build compiles this program with a variation of package channel.
func build(dir string, v variation) (binary string, err error) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	texts := map[string]string{}
	for _, e := range v.edits {
		path, err := filepath.Abs(filepath.Join("channel", e.file))
		if err != nil {
			return "", err
		}
		if texts[path] == "" {
			text, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			texts[path] = string(text)
		}
		if strings.Count(texts[path], e.is) != 1 {
			return "", fmt.Errorf("%s: %q is not there once in %s", v.name, e.is, e.file)
		}
		texts[path] = strings.Replace(texts[path], e.is, e.becomes, 1)
	}
	for path, text := range texts {
		changed := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return "", err
		}
		overlay.Replace[path] = changed
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		return "", err
	}
	binary = filepath.Join(dir, fmt.Sprintf("ablation-%x", v.name))
	if out, err := exec.Command("go", "build", "-overlay", file, "-o", binary, "./sim/channel/ablation").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", v.name, err, out)
	}
	return binary, nil
}

// ask runs a build on a scenario.
func ask(binary, scenario string, seeds int) (f channel.Figures, err error) {
	cmd := exec.Command(binary, "-scenario", scenario, "-seeds", fmt.Sprint(seeds))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return f, err
	}
	return f, json.Unmarshal(out, &f)
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

func print(name string, f channel.Figures) {
	ms := func(q channel.Quantiles) string {
		return fmt.Sprintf("%6.1f %6.1f %6.1f", float64(q.Median)/1000, float64(q.P95)/1000, float64(q.Max)/1000)
	}
	fmt.Printf("  %-44s delay %s  done %s  over 4 rtt %4.1f %%  again %5.2f %%  needless %5.3f %%  datagrams %4.0f %4.0f  bytes up %.0f\n",
		name, ms(f.Delay), ms(f.Last), 100*f.Late, 100*f.Again, 100*f.Needless, f.DatagramsDown, f.DatagramsUp, f.BytesUp)
}
