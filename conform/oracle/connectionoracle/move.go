package connectionoracle

// This file is what a session says to a connection (CXL-10, CXL-11, CXL-16, K20 to K22).

// Move says that this end, a client, has another address.
func (k *Connection) Move(now int64) {
	k.begin(now)
	k.forgetPath()
	k.moving = true
}

// Relinked says that the handshake was made again, at a server perhaps from the same address.
func (k *Connection) Relinked(now int64, otherPath bool) {
	k.begin(now)
	if k.heardAt, k.unackedAt, k.moving = k.now, -1, false; otherPath {
		k.forgetPath()
	}
}

// End says that there is no such connection any more.
func (k *Connection) End(now int64) (row string) {
	k.begin(now)
	row = map[string]string{StateOpen: "K20", StateClosing: "K21", StateClosed: "K22"}[k.state]
	if k.state == StateOpen {
		k.end(StateClosed, &Ended{Why: "ended"})
	}
	k.state = StateClosed
	return row
}

// News reports whether the latest datagram had news (CXL-15).
func (k *Connection) News() bool { return k.news }

// SRTT is the round trip, if it is measured.
func (k *Connection) SRTT() (int64, bool) {
	e := k.packets.Estimates()
	return e.SRTT, e.Measured
}

func (k *Connection) forgetPath() {
	next := k.packets.Next()
	k.packets.ForgetPath(k.now)
	k.unackedAt = -1
	k.lanes.forgetPath(k.now)
	if m := k.marks; m != nil { // CXM-17
		m.failed, m.acked, m.probes, m.grewAt, m.numbers = false, m.counted, 0, -1, map[int64]bool{}
	}
	k.witness.pathFrom, k.witness.tried, k.witness.arrived = next, 0, false // CXM-23
	k.learn()
}
