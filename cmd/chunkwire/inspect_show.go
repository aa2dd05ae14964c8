package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/spec"
	"github.com/chunkwire/chunkwire/tools/inspect"
)

// inspectShow prints the findings.
type inspectShow struct {
	*inspectFlags
	w *bufio.Writer
}

func (s *inspectShow) printf(format string, args ...any) { fmt.Fprintf(s.w, format, args...) }

// datagram prints a datagram with its fields.
func (s *inspectShow) datagram(r *inspect.Result, b []byte) error {
	if s.json {
		return s.encode(r)
	}
	s.printf("%s, %s: %s\n", r.Protocol, countOf(int64(r.Size), "byte"), r.Summary)
	if r.Lane != nil {
		s.printf("  %v\n", r.Lane)
	}
	for _, note := range r.Notes {
		s.printf("  note: %s\n", note)
	}
	s.printf("  %6s %5s  %-22s %s\n", "bit", "bits", "field", "value")
	for i := range r.Fields {
		s.field(&r.Fields[i], 0)
	}
	if s.bits {
		s.drawing(r, b)
	}
	if r.Refused != nil && s.explain {
		s.sentence(r.Refused.Sentence)
	}
	s.explainFields(r)
	return nil
}

// field prints a field, and what is in it; bits that belong together in a line.
func (s *inspectShow) field(f *inspect.Field, depth int) {
	name := strings.Repeat("  ", depth) + f.Name
	value := valueText(f)
	flat := bitRow(f)
	if flat != "" {
		value = flat
	}
	line := fmt.Sprintf("  %6d %5d  %-22s %s", f.Bit, f.Bits, name, value)
	if f.Meaning != "" {
		line += "  (" + f.Meaning + ")"
	}
	if f.Sentence != "" {
		line = fmt.Sprintf("%-68s %s", line, f.Sentence)
	}
	s.printf("%s\n", strings.TrimRight(line, " "))
	if flat != "" {
		return
	}
	for i := range f.Fields {
		s.field(&f.Fields[i], depth+1)
	}
}

// shownBytes is how many bytes of a field are printed.
const shownBytes = 12

func valueText(f *inspect.Field) string {
	switch v := f.Value.(type) {
	case uint64:
		if f.Bits >= 32 {
			return fmt.Sprintf("0x%0*x", f.Bits/4, v)
		}
		return fmt.Sprint(v)
	case string:
		if len(v) > 2*shownBytes {
			return fmt.Sprintf("%s… %d bytes", v[:2*shownBytes], len(v)/2)
		}
		return v
	}
	return ""
}

// bitRow returns the bits of a group of more than one field that are all single bits.
func bitRow(f *inspect.Field) string {
	if len(f.Fields) == 0 || slices.ContainsFunc(f.Fields, func(f inspect.Field) bool { return f.Bits != 1 }) {
		return ""
	}
	var b strings.Builder
	for _, bit := range f.Fields {
		fmt.Fprint(&b, bit.Value)
	}
	if text := b.String(); len(text) > 32 {
		return text[:32] + "…"
	}
	return b.String()
}

// drawnBytes is how many bytes of a field are drawn.
const drawnBytes = 8

// drawing draws the bytes with their bits, the lowest first, and the fields that begin or go on in each.
func (s *inspectShow) drawing(r *inspect.Result, b []byte) {
	var leaves []*inspect.Field
	for i := range r.Fields {
		r.Fields[i].Leaves(func(f *inspect.Field) { leaves = append(leaves, f) })
	}
	s.printf("  %6s  hex  bits, lowest first\n", "byte")
	for at, v := range b {
		var names []string
		middle := false
		for _, f := range leaves {
			if f.Bit >= 8*(at+1) || f.Bit+f.Bits <= 8*at {
				continue
			}
			names = append(names, f.Name)
			middle = f.Bit+8*drawnBytes <= 8*at && f.Bit+f.Bits > 8*(at+1)
		}
		if middle {
			continue
		}
		var bits strings.Builder
		for i := range 8 {
			fmt.Fprint(&bits, v>>i&1)
		}
		s.printf("  %6d  %02x   %s  %s\n", at, v, &bits, strings.Join(names, " | "))
	}
}

// sentence prints the text of a sentence.
func (s *inspectShow) sentence(id string) {
	if found, ok := spec.Find(id); ok {
		s.printf("  %s (%s, %s, section %s): %s\n", id, found.Class, found.File, found.Section, found.Text)
	}
}

// explainFields prints the text of the sentences of the fields that were asked for, each once.
func (s *inspectShow) explainFields(r *inspect.Result) {
	said := map[string]bool{}
	var look func(f *inspect.Field)
	look = func(f *inspect.Field) {
		name, _, _ := strings.Cut(f.Name, "[")
		if asked := slices.Contains(s.fields, "all") || slices.Contains(s.fields, name); asked && !said[f.Sentence] {
			said[f.Sentence] = true
			s.sentence(f.Sentence)
		}
		for i := range f.Fields {
			look(&f.Fields[i])
		}
	}
	for i := range r.Fields {
		look(&r.Fields[i])
	}
}

// captureReport is what --json prints of a capture.
type captureReport struct {
	Datagrams int              `json:"datagrams"`
	Joined    int              `json:"joined"` // that were cut
	Fragments int              `json:"ip_fragments"`
	Others    int              `json:"other_packets"`
	CutShort  int              `json:"cut_short"`
	Damaged   string           `json:"damaged,omitempty"`
	Stories   []*inspect.Story `json:"stories"`
	Each      []eachDatagram   `json:"each,omitempty"`
}

type eachDatagram struct {
	Seconds float64 `json:"seconds"`
	From    string  `json:"from"`
	To      string  `json:"to"`
	inspect.Result
}

// capture prints the stories of a capture.
func (s *inspectShow) capture(c *capture) error {
	stories := inspect.Stories(c.list)
	refused := 0
	for _, story := range stories {
		for _, r := range story.Refused {
			refused += r.Datagrams
		}
	}
	if s.json {
		report := captureReport{Datagrams: len(c.list), Joined: c.joined, Fragments: c.fragments, Others: c.others, CutShort: c.cutShort, Damaged: c.damaged, Stories: stories}
		for i := range c.list {
			if s.each {
				report.Each = append(report.Each, eachDatagram{c.seconds(i), c.list[i].From.String(), c.list[i].To.String(), c.list[i].Result})
			}
		}
		if err := s.encode(report); err != nil {
			return err
		}
		return refusedError(refused)
	}
	s.captureHead(c)
	for i := range c.list {
		if d := &c.list[i]; s.each {
			s.printf("%10.6f  %v > %v  %s\n", c.seconds(i), d.From, d.To, d.Result.Summary)
		}
	}
	for _, story := range stories {
		s.story(story)
	}
	return refusedError(refused)
}

func (c *capture) seconds(i int) float64 { return c.list[i].At.Sub(c.list[0].At).Seconds() }

func (s *inspectShow) captureHead(c *capture) {
	s.printf("%s", countOf(int64(len(c.list)), "datagram"))
	if c.joined > 0 {
		s.printf("; %s of segmentation offload cut", countOf(int64(c.joined), "packet"))
	}
	var out []string
	for _, what := range []struct {
		n           int
		thing, that string
	}{
		{c.fragments, "IP fragment", ""}, {c.others, "packet", " without UDP"}, {c.cutShort, "packet", " that the capture has in part"},
	} {
		if what.n > 0 {
			out = append(out, countOf(int64(what.n), what.thing)+what.that)
		}
	}
	if len(out) > 0 {
		s.printf("; left out: %s", strings.Join(out, ", "))
	}
	if c.damaged != "" {
		s.printf("; the file ends early: %s", c.damaged)
	}
	s.printf("\n")
}

// path prints what the path lost, and how long it is.
func (s *inspectShow) path(t *inspect.Story) {
	for i, e := range t.Ends {
		s.lost('A'+i, 'A'+i, e.Loss.Before)
		s.lost('A'+i, 'A'+1-i, e.Loss.After)
	}
	for i, e := range t.Ends {
		if e.Trips.Samples > 0 {
			s.printf("  round trip between the capture and %c: %.1f ms (%.1f to %.1f, %s)\n", 'A'+1-i, e.Trips.Median, e.Trips.Least, e.Trips.Most, countOf(int64(e.Trips.Samples), "sample"))
		}
	}
}

// lost prints how many of an end's datagrams were lost between the capture and an end.
func (s *inspectShow) lost(sender, side int, part inspect.Share) {
	if part.Lost > 0 {
		s.printf("  lost between the capture and %c: %d of %d %s of %c (%.1f %%)\n", side, part.Lost, part.Of, part.What, sender, part.Percent())
	}
}

// story prints a story.
func (s *inspectShow) story(t *inspect.Story) {
	s.printf("\nA %s, B %s: %s", t.Ends[0].Address, t.Ends[1].Address, t.Protocol)
	if p := t.Plain; p != nil {
		s.printf(", protocol id 0x%08x, %s", p.Base, countOf(int64(p.Lanes), "lane"))
	}
	s.printf(", %.3f s\n", t.Seconds)
	for _, line := range t.Lines {
		s.printf("  %9.3f  %c %s\n", line.Seconds, 'A'+line.End, line.Text)
	}
	if t.LeftOut > 0 {
		s.printf("  and %s more\n", countOf(int64(t.LeftOut), "line"))
	}
	for i, e := range t.Ends {
		s.printf("  %c sent %s, %d bytes", 'A'+i, countOf(int64(e.Datagrams), "datagram"), e.Bytes)
		if e.Duplicates > 0 {
			s.printf("; %d twice", e.Duplicates)
		}
		s.printf("\n")
	}
	s.path(t)
	for _, q := range t.Silences {
		s.printf("  %c silent for %.3f s from %.3f s on, while %c sent %s\n", 'A'+q.End, q.Seconds, q.From, 'A'+1-q.End, countOf(int64(q.Ignored), "datagram"))
	}
	for _, r := range t.Refused {
		s.printf("  refused: %s of %c, %s (%s)\n", countOf(int64(r.Datagrams), "datagram"), 'A'+r.End, r.Code, r.Sentence)
		if s.explain {
			s.sentence(r.Sentence)
		}
	}
	s.printf("  end: %s\n  verdict: %s\n", t.Ended, t.Verdict)
}
