package fuzz

import "container/heap"

// A datagram's fate is a byte. Its upper three bits say what happens:
//
//	0, 1, 2  it arrives in time
//	3        a few milliseconds late, so that others overtake it
//	4        lost; with all lower bits set the next byte says how many more; 30 and
//	         29 also let the sender or the receiver sleep for the next byte's 20 ms
//	5        doubled, the copy some milliseconds later
//	6        late by some 100 ms
//	7        changed: in bits, or cut short, where the next two bytes say
//
// and the lower five how much.

// letter is a datagram under way.
type letter struct {
	at       micros
	seq      int // what arrives at the same time keeps its order
	to       int
	corrupt  bool
	was      string // what it was before, for a story
	datagram []byte
}

// mail decides about a datagram, and puts it under way.
func (w *world) mail(to int, datagram []byte, err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("encoding: %v", err)
	}
	if !w.script.more() && w.lose == 0 {
		w.fair++
	}
	if w.fair > 20_000 {
		w.Fatalf("%d datagrams in fair weather, and no end", w.fair)
	}
	at, what := w.now+w.delay, "arrives in time"
	if w.lose > 0 {
		w.lose--
		w.tellMail(to, datagram, "lost")
		return
	}
	fate := w.script.byte()
	much := micros(fate & 31)
	switch fate >> 5 {
	case 3:
		at, what = at+much*1000, "late"
	case 4:
		w.lost(to, datagram, fate&31)
		return
	case 5:
		what = "doubled"
		w.post(letter{at: at + much*4000, to: to, datagram: append([]byte(nil), datagram...)})
	case 6:
		at, what = at+(much+1)*100_000, "very late"
	case 7:
		w.corrupt(letter{at: at, to: to, corrupt: true, datagram: datagram}, fate&31)
		return
	}
	w.tellMail(to, datagram, what)
	w.post(letter{at: at, to: to, datagram: datagram})
}

func (w *world) post(m letter) {
	w.mailed++
	m.seq = w.mailed
	heap.Push(&w.network, m)
}

func (w *world) lost(to int, datagram []byte, how byte) {
	what := "lost"
	switch how {
	case 31:
		w.lose = int(w.script.byte())
		what = "lost, and the next ones too"
	case 30:
		w.asleep[toSender] = w.now + micros(w.script.byte())*20_000
		what = "lost; the sender falls asleep"
	case 29:
		w.asleep[toReceiver] = w.now + micros(w.script.byte())*20_000
		what = "lost; the receiver falls asleep"
	}
	w.tellMail(to, datagram, what)
}

// corrupt flips one to three bits that stand together, which no crc misses, or
// cuts the datagram short.
func (w *world) corrupt(m letter, how byte) {
	where := int(w.script.uint16())
	if w.story != nil {
		w.tellMail(m.to, m.datagram, "changed")
		p, _ := w.framer.Decode(m.datagram)
		m.was = packetText(p)
	}
	if how >= 28 {
		m.datagram = m.datagram[:where%len(m.datagram)]
	} else {
		where %= 8*len(m.datagram) - 2
		for bit := where; bit <= where+int(how%3); bit++ {
			m.datagram[bit/8] ^= 1 << (bit % 8)
		}
	}
	w.corrupted++
	w.post(m)
}

// mail is a heap of letters, ordered by when they arrive.
type mail []letter

func (h mail) Len() int { return len(h) }
func (h mail) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h mail) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *mail) Push(v any)   { *h = append(*h, v.(letter)) }
func (h *mail) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
