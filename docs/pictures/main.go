// Command pictures makes the recording of docs/COMMAND.md: it runs the demonstration in a
// terminal of tmux, and draws what was on the screen as an SVG that moves.
//
//	go run ./docs/pictures >docs/pictures/demo.svg
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// What is recorded, and how.
const (
	columns, rows = 80, 25
	interval      = 80 * time.Millisecond
	most          = 30 * time.Second
	stays         = 4 * time.Second // of the last frame
)

var demo = []string{"demo", "--rate", "1500k", "--queue", "64K", "--rtt", "80ms", "--loss", "5", "--seed", "7"}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run() error {
	work, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	command := filepath.Join(work, "chunkwire")
	if out, err := exec.Command("go", "build", "-o", command, "./cmd/chunkwire").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	frames, err := record(work, command)
	if err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(draw("$ chunkwire "+strings.Join(demo, " "), frames))
	return err
}

// frame is what the terminal shows from a time on.
type frame struct {
	at    time.Duration
	lines []string // with escape sequences of colors
}

// record runs the demonstration in a terminal of its own until it has ended.
func record(work, command string) (frames []frame, err error) {
	tmux := func(args ...string) ([]byte, error) {
		return exec.Command("tmux", append([]string{"-f", "/dev/null", "-S", filepath.Join(work, "tmux")}, args...)...).Output()
	}
	if _, err := tmux("new-session", "-d", "-x", fmt.Sprint(columns), "-y", fmt.Sprint(rows), command+" "+strings.Join(demo, " ")+"; touch "+filepath.Join(work, "ended")+"; sleep 60"); err != nil {
		return nil, fmt.Errorf("tmux: %w", err)
	}
	defer tmux("kill-server")
	start := time.Now()
	for time.Since(start) < most {
		_, ended := os.Stat(filepath.Join(work, "ended"))
		at := time.Since(start)
		screen, err := tmux("capture-pane", "-e", "-p")
		if err != nil {
			return nil, fmt.Errorf("tmux: %w", err)
		}
		lines := strings.Split(strings.TrimRight(string(screen), "\n"), "\n")
		if len(frames) == 0 || strings.Join(frames[len(frames)-1].lines, "\n") != strings.Join(lines, "\n") {
			frames = append(frames, frame{at, lines})
		}
		if ended == nil {
			return frames, nil
		}
		time.Sleep(interval)
	}
	return nil, errors.New("the demonstration has not ended")
}

// Sizes in pixels.
const (
	cellWidth, cellHeight = 8.4, 17.0
	margin                = 12.0
)

// draw returns an SVG that shows the frames one after the other, in a loop.
func draw(title string, frames []frame) string {
	var b bytes.Buffer
	first := frames[0].at
	total := frames[len(frames)-1].at - first + stays
	width, height := columns*cellWidth+2*margin, (rows+1)*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" aria-label="%s">`+"\n", width, height, width, height, escape(title))
	b.WriteString("<style>\nrect{fill:#101418}text{font:14px/17px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d8dee4;white-space:pre}.prompt{fill:#8b98a5}\n")
	for code, color := range colors {
		fmt.Fprintf(&b, ".c%s{fill:%s}", code, color)
	}
	// What shows no motion shows the end.
	fmt.Fprintf(&b, "\n.f{visibility:hidden}#f%d{visibility:visible}\n", len(frames)-1)
	for i, f := range frames {
		end := 100.0
		if i+1 < len(frames) {
			end = 100 * float64(frames[i+1].at-first) / float64(total)
		}
		begin := 100 * float64(f.at-first) / float64(total)
		name := fmt.Sprintf("f%d", i)
		fmt.Fprintf(&b, "@keyframes %s{0%%{visibility:%s}%.3f%%{visibility:visible}%.3f%%{visibility:%s}}", name, hidden(i > 0), begin, end, hidden(i+1 < len(frames)))
		fmt.Fprintf(&b, "#%s{animation:%s %.2fs step-end infinite}\n", name, name, total.Seconds())
	}
	b.WriteString("@media (prefers-reduced-motion:reduce){.f{animation:none!important}}\n</style>\n")
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6"/><text class="prompt" x="%g" y="%g">%s</text>`+"\n", margin, margin+cellHeight-4, escape(title))
	defs := defineLines(&b, frames)
	for i, f := range frames {
		fmt.Fprintf(&b, `<g class="f" id="f%d">`, i)
		for row, line := range f.lines {
			if id, ok := defs[line]; ok {
				fmt.Fprintf(&b, `<use href="#%s" y="%g"/>`, id, float64(row+1)*cellHeight)
			}
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func hidden(yes bool) string {
	if yes {
		return "hidden"
	}
	return "visible"
}

// defineLines writes each line that occurs once, and returns their ids.
func defineLines(b *bytes.Buffer, frames []frame) map[string]string {
	ids := map[string]string{}
	state := ""
	b.WriteString("<defs>\n")
	for _, f := range frames {
		state = "" // a line begins with the colors that the one before had
		for _, line := range f.lines {
			if _, ok := ids[line]; !ok && strings.TrimSpace(plain(line)) != "" {
				ids[line] = fmt.Sprintf("l%d", len(ids))
				fmt.Fprintf(b, `<text id="%s" x="%g" y="%g">%s</text>`+"\n", ids[line], margin, margin+cellHeight-4, spans(line, state))
			}
			state = colorAfter(line, state)
		}
	}
	b.WriteString("</defs>\n")
	return ids
}

// colors are those that the demonstration uses, by their number in escape sequences.
var colors = map[string]string{"31": "#ff7b72", "32": "#4cc38a", "33": "#f2b544", "34": "#6cb6ff", "35": "#d2a8ff", "36": "#56d4dd", "90": "#8b98a5"}

// parts cuts a line at its escape sequences: text, then the color of what follows.
func parts(line string) (texts, codes []string) {
	for {
		before, after, found := strings.Cut(line, "\x1b[")
		texts = append(texts, before)
		if !found {
			return texts, codes
		}
		code, rest, _ := strings.Cut(after, "m")
		codes, line = append(codes, code), rest
	}
}

func plain(line string) string {
	texts, _ := parts(line)
	return strings.Join(texts, "")
}

func colorAfter(line, color string) string {
	_, codes := parts(line)
	for _, code := range codes {
		color = next(color, code)
	}
	return color
}

// next returns the color after an escape sequence.
func next(color, code string) string {
	if _, ok := colors[code]; ok {
		return code
	}
	if code == "" || code == "0" || code == "39" {
		return ""
	}
	return color
}

// spans returns a line as text of SVG.
func spans(line, color string) string {
	var b strings.Builder
	texts, codes := parts(line)
	for i, text := range texts {
		if i > 0 {
			color = next(color, codes[i-1])
		}
		switch {
		case text == "":
		case color == "":
			b.WriteString(escape(text))
		default:
			fmt.Fprintf(&b, `<tspan class="c%s">%s</tspan>`, color, escape(text))
		}
	}
	return b.String()
}

func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}
