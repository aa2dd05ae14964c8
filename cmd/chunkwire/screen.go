package main

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// screen is where a transfer is shown.
type screen struct {
	w      io.Writer
	live   bool // a picture can be drawn over
	colors bool
	width  int // columns
}

// pipeWidth is how wide lines are where there is no terminal.
const pipeWidth = 80

func newScreen(w io.Writer) screen {
	s := screen{w: w, width: pipeWidth}
	f, ok := w.(*os.File)
	if !ok || !isTerminal(w) {
		return s
	}
	if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
		s.width = columns
	}
	s.live = os.Getenv("TERM") != "dumb"
	s.colors = s.live && os.Getenv("NO_COLOR") == ""
	return s
}

// mapWidth returns how many slices go into a row, behind two spaces.
func (s screen) mapWidth() int { return min(mapWidth, max(s.width-2, 1)) }

// cut shortens a line so that it fits beside two spaces.
func (s screen) cut(line string) string {
	runes := []rune(line)
	return string(runes[:min(len(runes), max(s.width-2, 0))])
}

// print writes text, with lines that fit the screen: they are broken at spaces.
func (s screen) print(text string) {
	column := 0
	for i, word := range strings.Split(text, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > s.width:
			_, _ = io.WriteString(s.w, "\n")
			column = 0
		default:
			_, _ = io.WriteString(s.w, " ")
			column++
		}
		_, _ = io.WriteString(s.w, word)
		column += n
	}
	_, _ = io.WriteString(s.w, "\n")
}

// pairs prints rows of a name and a value: as a table, or else one after the other.
func (s screen) pairs(rows [][]string) {
	if s.table(rows) {
		return
	}
	for _, row := range rows {
		s.print(row[0] + ": " + row[1])
	}
}

// table prints rows of cells in columns, if they fit, and reports whether they do.
func (s screen) table(rows [][]string) bool {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		line = strings.TrimRight(line, " ")
		if utf8.RuneCountInString(line) > s.width {
			return false
		}
		b.WriteString(line + "\n")
	}
	_, _ = io.WriteString(s.w, b.String())
	return true
}
