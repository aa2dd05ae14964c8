package inspect

import (
	"fmt"
	"slices"
	"strings"
)

// openEnd says how it stands at the end of the capture.
func (s *Story) openEnd() string {
	whole, part := 0, 0
	for _, k := range s.Chunks {
		if k.Complete {
			whole++
		} else {
			part++
		}
	}
	switch {
	case s.encrypted > 0:
		return fmt.Sprintf("the capture ends; %d datagrams are encrypted, and no key was given; by their sizes %s sent %d full slices, and %s %d",
			s.encrypted, s.name(0), s.large[0], s.name(1), s.large[1])
	case part > 0:
		return fmt.Sprintf("the capture ends with %d chunks complete and %d under way", whole, part)
	case whole > 0:
		return fmt.Sprintf("the capture ends with all %d chunks complete", whole)
	}
	return "the capture ends"
}

// verdict says who was at fault: the first of these that is so.
func (s *Story) verdict() string {
	a, b := &s.Ends[0], &s.Ends[1]
	switch {
	case s.refused:
		return s.Ended + "."
	case b.Datagrams == 0:
		return fmt.Sprintf("%s never answered %s, which sent %d datagrams: it is not there, hears another address, or refuses what comes.", b.Address, a.Address, a.Datagrams)
	case s.mostlyRefused() >= 0:
		end := s.mostlyRefused()
		return fmt.Sprintf("most of what %s sent is refused: see what is refused above; a wrong --protocol-id, --lanes or protocol is likely.", s.name(end))
	case !s.closed && s.silentEnd() >= 0:
		end := s.silentEnd()
		return fmt.Sprintf("%s fell silent and said nothing more, while %s went on.", s.name(end), s.name(1-end))
	case len(s.Silences) > 0:
		worst := slices.MaxFunc(s.Silences, func(x, y Silence) int { return int(1e6 * (x.Seconds - y.Seconds)) })
		return fmt.Sprintf("%s was silent for %.1f s, and then went on: it, or the path from it, stopped.", s.name(worst.End), worst.Seconds)
	}
	if lost := s.lostText(); lost != "" {
		return "nobody was at fault; the path lost " + lost + "."
	}
	return "nobody was at fault."
}

// lostText says what the path lost each way.
func (s *Story) lostText() string {
	var list []string
	for end := range s.Ends {
		if p := s.Ends[end].Loss.Percent(); p > 0 {
			list = append(list, fmt.Sprintf("%.1f %% of what %s sent", p, s.name(end)))
		}
	}
	return strings.Join(list, " and ")
}

// mostlyRefused returns the end of whose datagrams more than half were refused, or -1.
func (s *Story) mostlyRefused() int {
	var n [2]int
	for _, r := range s.Refused {
		n[r.End] += r.Datagrams
	}
	for end := range n {
		if 2*n[end] > s.Ends[end].Datagrams {
			return end
		}
	}
	return -1
}

// silentEnd returns the end whose silence lasts until the end of the capture, or -1.
func (s *Story) silentEnd() int {
	for _, q := range s.Silences {
		if q.From+q.Seconds >= s.Seconds && s.heard[q.End].Before(s.last) {
			return q.End
		}
	}
	return -1
}
