package main

// stormFaults are caught by the worlds of fuzz/storm: at least one for each of
// its judges' rules that a machine or the codec can break.
var stormFaults = []fault{
	{
		Name: "storm: a sender takes chunks of any size", Breaks: "sizes (LIM-1, S2)",
		File: "statemachine/sender.go",
		Old:  "if len(chunk) < 1 || len(chunk) > codec.MaxChunkSize {", New: "if len(chunk) < 1 {",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a sender's ids do not wrap but skip 0", Breaks: "ids (CID-2)",
		File: "statemachine/sender.go",
		Old:  "s.chunkID++ // modulo 2^16 (CID-2)", New: "if s.chunkID++; s.chunkID == 0 {\n\t\ts.chunkID = 1\n\t}",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a multiple of 1,024 bytes makes an empty last slice", Breaks: "slices (LIM-2)",
		File: "codec/doc.go",
		Old:  "return (size + SliceSize - 1) / SliceSize", New: "return min(size/SliceSize+1, MaxSlices)",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a slice that was acked stays in line", Breaks: "the fuse (SCH-1)",
		File: "statemachine/base_news.go",
		Old:  "b.due = b.due.Minus(news)", New: "",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a resent slice has another byte", Breaks: "identical resends (SLC-4)",
		File: "statemachine/sender.go",
		Old:  "		kind = Resent\n", New: "		kind = Resent\n\t\ts.out.Data = append([]byte{s.out.Data[0] + 1}, s.out.Data[1:]...)\n",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a machine writes to the application's chunk", Breaks: "the chunk is the application's (SND-18)",
		File: "statemachine/sender.go",
		Old:  "	s.hear()\n	s.acked = s.acked.Union(news)", New: "	s.hear()\n	s.chunk[len(s.chunk)-1] = 0\n	s.acked = s.acked.Union(news)",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a chunk is complete when all but one slice is acked", Breaks: "completion is truth (SAFE-2)",
		File: "statemachine/sender.go",
		Old:  "if s.acked.Count()+news.Count() == s.numSlices {", New: "if s.acked.Count()+news.Count() >= max(1, s.numSlices-1) {",
		CaughtBy: storm(),
	},
	{
		Name: "storm: one ack that tells the rest does not complete", Breaks: "completion (S10)",
		File: "statemachine/sender.go",
		Old:  "if s.acked.Count()+news.Count() == s.numSlices {", New: "if s.acked.Count()+news.Count() == s.numSlices && s.numSlices < 200 {",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a hold is no sign of life to a sender", Breaks: "patience (S8, SND-9)",
		File: "statemachine/sender_table.go",
		Old:  "	case S8HoldAck:\n		s.hear()", New: "	case S8HoldAck:",
		CaughtBy: storm(),
	},
	{
		Name: "storm: any ack is a sign of life to a sender", Breaks: "no silent wait (LIVE-3, SND-8)",
		File: "statemachine/sender_table.go",
		Old:  "	case S5IdleAck, S6ForeignAck, S7OldAck, S11FailedAck:", New: "	case S7OldAck:\n		s.hear()\n	case S5IdleAck, S6ForeignAck, S11FailedAck:",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a sender's deadline forgets its patience", Breaks: "no silent wait (SND-16)",
		File: "statemachine/sender.go",
		Old:  "return min(s.sched.Deadline(), s.heardFromAt+s.giveUp)", New: "return s.sched.Deadline()",
		CaughtBy: storm(),
	},
	{
		Name: "storm: the resend timer runs out once", Breaks: "no stall (LIVE-2, SCH-2)",
		File: "statemachine/base_timer.go",
		Old:  "	if b.unacked.Empty() {\n		return Never", New: "	if b.unacked.Empty() || b.backoff > 1 {\n		return Never",
		CaughtBy: storm(),
	},
	{
		Name: "storm: the deadline of spacing is that of the last slice", Breaks: "deadlines lie ahead (SCH-3)",
		File: "statemachine/base.go",
		Old:  "return max(b.spacedUntil, b.budget.when(b.cost(id)))", New: "return b.budget.when(b.cost(id))",
		CaughtBy: storm(),
	},
	{
		Name: "storm: an ack pays three times what arrived", Breaks: "the budget (BUD-6)",
		File: "statemachine/budget.go",
		Old:  "if extra := n*perByte - b.byTime; extra > 0 {", New: "if extra := 3*n*perByte - b.byTime; extra > 0 {",
		CaughtBy: storm(),
	},
	{
		Name: "storm: time fills the bucket beyond its cap", Breaks: "the budget (BUD-3)",
		File: "statemachine/budget.go",
		Old:  "b.left = min(b.left+earned, b.cap)", New: "b.left += earned",
		CaughtBy: storm(),
	},
	{
		Name: "storm: nothing stops a sender without spacing", Breaks: "bounded work (BND-3)",
		File: "statemachine/base.go",
		Old:  "	b.due.Clear(id)\n", New: "	if b.profile.Spacing > 0 || b.profile.Rate > 0 {\n		b.due.Clear(id)\n	}\n",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a slice of the chunk before is not acked again", Breaks: "every slice is answered (LIVE-1), the second stall (LIVE-2)",
		File: "statemachine/receiver_table.go",
		Old:  "		r.ackPreviousAgain()", New: "		r.stats.Duplicates++",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a duplicate is not acked again", Breaks: "every slice is answered (LIVE-1), the first stall (LIVE-2)",
		File: "statemachine/receiver_table.go",
		Old:  "		r.ackAgain()", New: "		r.stats.Duplicates++",
		CaughtBy: storm(),
	},
	{
		Name: "storm: nothing is held while a chunk waits to be read", Breaks: "every slice is answered (LIVE-1, RCV-14)",
		File: "statemachine/receiver_table.go",
		Old:  "		r.hold(in.slice)", New: "		r.stats.Held++",
		CaughtBy: storm(),
	},
	{
		Name: "storm: an ack stays due when it was sent", Breaks: "one ack a slice (ACQ-2)",
		File: "statemachine/receiver.go",
		Old:  "		p.current = false\n", New: "		p.current = r.now%64 == 0 && !p.hold\n",
		CaughtBy: storm(),
	},
	{
		Name: "storm: an ack has a bit too many", Breaks: "acks are true (ACK-2)",
		File: "statemachine/receiver.go",
		Old:  "Acked: r.received}", New: "Acked: r.received.Union(codec.FirstN(1))}",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a hold sets a bit", Breaks: "holds (RCV-16)",
		File: "statemachine/receiver.go",
		Old:  "r.out = codec.Ack{ChunkID: r.chunkID, NumSlices: r.heldSlices}", New: "r.out = codec.Ack{ChunkID: r.chunkID, NumSlices: r.heldSlices, Acked: codec.FirstN(1)}",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a foreign slice is acked", Breaks: "no answer to what is foreign (RCV-4)",
		File: "statemachine/receiver.go",
		Old:  "	case s.ChunkID != r.chunkID:\n		return SliceForeign", New: "	case s.ChunkID != r.chunkID:\n		r.chunkID = s.ChunkID\n		return SliceForeign",
		CaughtBy: storm(),
	},
	{
		Name: "storm: the second chunk's last slice is as long as the first's", Breaks: "what is delivered is what was sent (SAFE-1)",
		File: "statemachine/receiver.go",
		Old:  "		r.lastBytes = len(s.Data)", New: "		r.lastBytes = max(r.lastBytes, len(s.Data))",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a slice is stored by the order in which it comes", Breaks: "no panic, what is delivered is what was sent (SAFE-1)",
		File: "statemachine/receiver.go",
		Old:  "	copy(r.slices[s.SliceID][:], s.Data)", New: "	copy(r.slices[min(s.SliceID, r.received.Count())][:], s.Data)",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a read overwrites what is ahead in the buffer", Breaks: "what is delivered is what was sent (SAFE-1)",
		File: "statemachine/receiver.go",
		Old:  "dst = slices.Grow(dst, r.readSize)", New: "dst = slices.Grow(dst[:0], r.readSize)",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a chunk can be read twice", Breaks: "each once (SAFE-1)",
		File: "statemachine/receiver.go",
		Old:  "	r.chunk = nil\n", New: "	if len(chunk) == 1 {\n		r.state = ReceiverReady\n	}\n",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a complete chunk is dropped when the next one begins to come", Breaks: "what is complete is delivered (SAFE-5)",
		File: "statemachine/receiver.go",
		Old:  "	r.stats.Held++\n", New: "	r.stats.Held++\n	if r.stats.Held%8 == 0 {\n		r.state = ReceiverWaiting\n	}\n",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a receiver loses patience in half of the time", Breaks: "patience (RCV-9)",
		File: "statemachine/receiver.go",
		Old:  "case r.state == ReceiverReceiving && r.now-r.progressAt >= r.giveUp:", New: "case r.state == ReceiverReceiving && r.now-r.progressAt >= r.giveUp/2:",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a receiver never loses patience", Breaks: "no silent wait (LIVE-3)",
		File: "statemachine/receiver.go",
		Old:  "case r.state == ReceiverReceiving && r.now-r.progressAt >= r.giveUp:", New: "case r.state == ReceiverReceiving && r.now < 0:",
		CaughtBy: storm(),
	},
	{
		Name: "storm: memory for a whole chunk at its first slice", Breaks: "memory as slices arrive (BND-1, RCV-18)",
		File: "statemachine/receiver.go",
		Old:  "	r.numSlices = s.NumSlices\n", New: "	r.numSlices = s.NumSlices\n	for len(r.slices) < s.NumSlices {\n		r.slices = append(r.slices, new([codec.SliceSize]byte))\n	}\n",
		CaughtBy: storm(),
	},
	{
		Name: "storm: the list of slices grows with each chunk", Breaks: "memory is bounded (BND-1)",
		File: "statemachine/receiver.go",
		Old:  "	r.numSlices = s.NumSlices\n", New: "	r.numSlices = s.NumSlices\n	r.slices = append(make([]*[codec.SliceSize]byte, 0, cap(r.slices)+512), r.slices...)\n",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a time that goes back is believed", Breaks: "time (TIM-1)",
		File: "statemachine/sender.go",
		Old:  "func (s *Sender) advance(now Micros) { s.now = max(s.now, now) }", New: "func (s *Sender) advance(now Micros) { s.now = now }",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a decoder does not compare the sum", Breaks: "refusals (LAW-2, DEC-2)",
		File: "codec/frame.go",
		Old:  "	if binary.LittleEndian.Uint32(datagram) != f.crc(datagram) {", New: "	if binary.LittleEndian.Uint32(datagram) == f.crc(datagram)+1 {",
		CaughtBy: storm(),
	},
	{
		Name: "storm: an encoder forgets the end check", Breaks: "the frame (FRM-1)",
		File: "codec/frame.go",
		Old:  "binary.LittleEndian.AppendUint32(out, endCheck)", New: "binary.LittleEndian.AppendUint32(out, 0)",
		CaughtBy: storm(),
	},
	{
		Name: "storm: a server takes whoever comes", Breaks: "its application is asked (SEC-2)",
		File: "transport/reader.go",
		Old:  "	if !e.welcome(from.netAddr()) {", New: "	if e.welcome(from.netAddr()); e.stats.Refused < 0 {",
		CaughtBy: transportStorm(),
	},
	{
		Name: "storm: a chunk that finds the queue full is dropped", Breaks: "a slow reader loses nothing (CON-3)",
		File:     "transport/recv.go",
		Old:      "	for c.turn().State() == statemachine.ReceiverReady && len(c.recv) < c.endpoint.cfg.RecvQueue {",
		New:      "	if c.turn().State() == statemachine.ReceiverReady && len(c.recv) >= c.endpoint.cfg.RecvQueue {\n		_, _ = c.turn().Read(now, nil)\n	}\n	for c.turn().State() == statemachine.ReceiverReady && len(c.recv) < c.endpoint.cfg.RecvQueue {",
		CaughtBy: transportStorm(),
	},
	{
		Name: "storm: what was in flight when a connection failed counts as sent", Breaks: "completion is truth (SAFE-2)",
		File: "transport/send.go",
		Old:  "			l.inFlight.finish(c.err)", New: "			l.inFlight.finish(nil)",
		CaughtBy: transportStorm(),
	},
	{
		Name: "storm: the driver sleeps on when an ack is due", Breaks: "no stall (LIVE-1, LIVE-2)",
		File: "transport/conn.go",
		Old:  "	c.endpoint.agenda.move(c, max(earliest, deadline))\n	c.endpoint.wakeDriver()", New: "	c.endpoint.agenda.move(c, max(earliest, deadline))",
		CaughtBy: transportStorm(),
	},
	{
		Name: "kill: a file has its final name from the beginning", Breaks: "nothing half-written under the final name (FIL-3)",
		File:     "cmd/chunkwire/output.go",
		Old:      "	if o.f, err = os.OpenFile(o.part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode); err != nil {",
		New:      "	o.part = o.name\n	if o.f, err = os.OpenFile(o.part, os.O_WRONLY|os.O_CREATE, mode); err != nil {",
		CaughtBy: killed(),
	},
	{
		Name: "kill: an interrupted recv leaves its part file", Breaks: "what recv --help says",
		File: "cmd/chunkwire/output.go",
		Old:  "		_ = os.Remove(o.part)", New: "		_ = o.part",
		CaughtBy: killed(),
	},
	{
		Name: "kill: --give-up is not heeded", Breaks: "the other end ends in its time-out (LIVE-3)",
		File: "cmd/chunkwire/connection.go",
		Old:  "GiveUp:     c.giveUp,\n		// Between two chunks, and while a peer stores the file, nothing need be\n		// heard; but a peer that has gone then must not be waited for.\n		IdleTimeout: idleGiveUps * c.giveUp,", New: "",
		CaughtBy: killed(),
	},
	{
		Name: "kill: a time-out has the code of any failure", Breaks: "the exit codes of the help",
		File: "cmd/chunkwire/exit.go",
		Old:  "	case isTimeout(err):\n		return exitTimeout\n", New: "",
		CaughtBy: killed(),
	},
}

// storm is the test that runs the small worlds.
func storm() []catch { return []catch{{Package: "./fuzz/storm", Test: "TestSmallWorlds"}} }

// killed is the test that ends real processes.
func killed() []catch {
	return []catch{{Package: "./cmd/chunkwire", Test: "TestKilledProcesses", Args: []string{"-kill.seed=1"}}}
}

// transportStorm is the test that runs package transport in bad weather.
func transportStorm() []catch { return []catch{{Package: "./fuzz/storm", Test: "TestTransportStorm"}} }
