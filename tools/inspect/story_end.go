package inspect

import (
	"fmt"
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
		return fmt.Sprintf("the capture ends with %s complete and %d under way", count(whole, "chunk"), part)
	case whole == 1:
		return "the capture ends with its chunk complete"
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
	case s.Protocol == Unknown:
		return s.unknownText()
	case b.Datagrams == 0:
		return fmt.Sprintf("%s never answered %s, which sent %d datagrams: it is not there, has another address, or refuses what comes%s.", b.Address, a.Address, a.Datagrams, s.idText())
	case s.mostlyRefused() >= 0:
		return fmt.Sprintf("most of what %s sent is refused: see above%s.", s.name(s.mostlyRefused()), s.refusedText())
	case !s.closed && s.silentEnd() >= 0:
		end := s.silentEnd()
		return fmt.Sprintf("%s fell silent and said nothing more, while %s went on.", s.name(end), s.name(1-end))
	case len(s.Silences) > 0:
		worst := 0
		for i := range s.Silences {
			if s.Silences[i].Seconds > s.Silences[worst].Seconds {
				worst = i
			}
		}
		return s.silenceText(&s.Silences[worst], worst < len(s.numbered) && s.numbered[worst])
	}
	if lost := s.lostText(); lost != "" {
		return "nobody was at fault; the path lost " + lost + "."
	}
	return "nobody was at fault."
}

func (s *Story) unknownText() string { return "no protocol of the family takes what they sent." }

// silenceText says what stopped in a silence that ended; numbered: there were numbers before it.
func (s *Story) silenceText(q *Silence, numbered bool) string {
	switch name := s.name(q.End); {
	case q.Unseen > 0:
		return fmt.Sprintf("nothing came from %s for %.1f s, though it sent at least %s meanwhile: the path from it stopped.", name, q.Seconds, count(q.Unseen, "datagram"))
	case numbered:
		return fmt.Sprintf("%s sent nothing for %.1f s, as its numbers show, and then went on: it, or the path to it, stopped.", name, q.Seconds)
	default:
		return fmt.Sprintf("nothing came from %s for %.1f s, and then it went on: it, or the path to it or from it, stopped.", name, q.Seconds)
	}
}

// refusedText says what makes an end's datagrams be refused: where a handshake was accepted, both ends have the same
// protocol id, lanes and protocol.
func (s *Story) refusedText() string {
	if s.linked || s.resumed {
		return "; the key log is of another connection, or something between the ends changed them"
	}
	return "; a wrong --protocol-id, --lanes or protocol is likely"
}

// idText says which protocol id plain chunks have.
func (s *Story) idText() string {
	if s.Plain == nil {
		return ""
	}
	return fmt.Sprintf("; it must have the protocol id 0x%08x and %s, too", s.Plain.Base, count(s.Plain.Lanes, "lane"))
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
