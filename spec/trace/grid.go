package main

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/spec"
)

// grid is a Markdown table.
type grid struct {
	name, class string
	head        []string
	rows        [][]string
}

func newGrid(lines []string) grid {
	var g grid
	for i, line := range lines {
		var cells []string
		for _, cell := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		switch {
		case i == 0:
			g.head = cells
		case i > 1 && len(cells) == len(g.head):
			g.rows = append(g.rows, cells)
		}
	}
	return g
}

// take takes what the tables hold: transitions, constants, codes.
func (d *Document) take(grids []grid) {
	for _, g := range grids {
		switch head := strings.Join(g.head, "|"); {
		case head == "Row|State|Event|Guard|Next state|Actions":
			table := spec.Table{Name: g.name}
			for _, r := range g.rows {
				table.Rows = append(table.Rows, spec.Row{Row: r[0], State: r[1], Event: r[2], Guard: r[3], Next: r[4], Actions: list(r[5])})
			}
			d.Tables = append(d.Tables, table)
		case head == "Name|Value|Meaning":
			d.Constants = append(d.Constants, g.constants()...)
		case head == "Code|From|Meaning|Sentences":
			for _, r := range g.rows {
				d.Codes = append(d.Codes, spec.Code{Code: strings.Trim(r[0], "`"), From: r[1], Meaning: r[2], Sentences: list(r[3])})
			}
		}
	}
}

func (g grid) constants() (constants []spec.Constant) {
	for _, r := range g.rows {
		value, unit, err := quantity(r[1])
		if err != nil {
			unit = err.Error()
		}
		constants = append(constants, spec.Constant{Name: strings.Trim(r[0], "`"), Value: value, Unit: unit, Class: g.class, Meaning: r[2]})
	}
	return constants
}

// list splits a cell; a dash stands for nothing.
func list(cell string) []string {
	if cell == "–" || cell == "" {
		return []string{}
	}
	return strings.Split(cell, ", ")
}

var quantityPattern = regexp.MustCompile(`^(?:(0x[0-9A-Fa-f]+)|([0-9,]+)(?:\^([0-9]+))?)(?: ([a-z]+))?$`)

// inMicros are the units of time, in microseconds.
var inMicros = map[string]int64{"us": 1, "ms": 1000, "s": 1_000_000, "min": 60_000_000}

// quantity reads a value such as "1,024 bytes", "2^40 us" or "10 s". Times come in
// microseconds, but for nanoseconds.
func quantity(text string) (value int64, unit string, err error) {
	m := quantityPattern.FindStringSubmatch(text)
	if m == nil {
		return 0, "", fmt.Errorf("%q is no value", text)
	}
	if m[1] != "" {
		value, err = strconv.ParseInt(m[1], 0, 64)
		return value, m[4], err
	}
	base, _ := new(big.Int).SetString(strings.ReplaceAll(m[2], ",", ""), 10)
	if m[3] != "" {
		power, _ := strconv.ParseInt(m[3], 10, 64)
		base.Exp(base, big.NewInt(power), nil)
	}
	if factor, isTime := inMicros[m[4]]; isTime {
		return new(big.Int).Mul(base, big.NewInt(factor)).Int64(), "us", nil
	}
	return base.Int64(), m[4], nil
}

// checkConstants returns the constants whose value cannot be read, or that no sentence uses.
func checkConstants(docs []Document) (problems []string) {
	for _, d := range docs {
		for _, c := range d.Constants {
			if strings.Contains(c.Unit, " ") {
				problems = append(problems, fmt.Sprintf("%s: %s: %s", d.File, c.Name, c.Unit))
			}
			if len(c.UsedBy) == 0 {
				problems = append(problems, fmt.Sprintf("%s: no sentence uses %s", d.File, c.Name))
			}
		}
	}
	return problems
}

// findUsers lists at each constant the sentences, of its document and of those built on it, in whose words it stands.
func (d *Document) findUsers(docs []Document) {
	for i := range d.Constants {
		word := regexp.MustCompile(`\b` + d.Constants[i].Name + `\b`)
		for _, in := range docs {
			for _, s := range in.Sentences {
				if (in.File == d.File || slices.Contains(sources[in.File].on, d.File)) && word.MatchString(s.Words) {
					d.Constants[i].UsedBy = append(d.Constants[i].UsedBy, s.ID)
				}
			}
		}
	}
}

// checkCodes returns the sentences of the registry that do not exist.
func checkCodes(docs []Document, known map[string]Sentence) (problems []string) {
	for _, d := range docs {
		for _, c := range d.Codes {
			for _, id := range c.Sentences {
				if _, exists := known[id]; !exists {
					problems = append(problems, fmt.Sprintf("%s: code %s: there is no sentence %s", d.File, c.Code, id))
				}
			}
		}
	}
	return problems
}
