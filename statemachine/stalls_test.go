package statemachine

import "testing"

// Field note 1: the article's first stall: a slice has arrived, but its ack was lost. The
// slice that is sent again for that reason is a duplicate, and is acked (RCV-13).
func TestStallOneADuplicateIsAckedAgain(t *testing.T) {
	c := converse(t)
	c.submit(chunkOf(2000, 1))
	c.send(0, 1)
	c.lose(1)
	c.arrive()
	c.answer(ackOf(0, "10"))
	c.loseAcks()

	c.advance(250 * ms)
	c.send(0, 1)
	c.lose(1)
	c.arrive() // slice 0, a duplicate
	c.answer(ackOf(0, "10"))
	c.hear()
	wantEqual(t, "acked", c.sender.Acked(), ids(0))
	wantEqual(t, "duplicates", c.receiver.Stats().Duplicates, 1)

	c.now = c.sender.Deadline()
	c.send(1)
	c.arrive()
	c.answer(ackOf(0, "11"))
	c.hear()
	c.states(SenderIdle, ReceiverReady)
	c.read(chunkOf(2000, 1))
}

// Field notes 1 and 6: the article's second stall: the last ack was lost, and the
// receiver has moved on to the next chunk. What the sender sends again belongs to
// the previous chunk, and is answered with all of that chunk's slices (RCV-13, RCV-16).
func TestStallTwoThePreviousChunkIsAckedAgain(t *testing.T) {
	c := converse(t)
	c.exchange(chunkOf(10, 1))
	c.advance(Second)
	c.submit(chunkOf(3000, 2))
	c.send(0, 1, 2)
	c.arrive()
	c.answer(ackOf(1, "111"))
	c.loseAcks()
	c.read(chunkOf(3000, 2))
	c.states(SenderSending, ReceiverWaiting)
	wantEqual(t, "receiver's chunk", c.receiver.ChunkID(), 2)

	c.advance(250 * ms)
	c.send(1, 2)
	c.lose(1)
	c.arrive()
	c.answer(ackOf(1, "111"))
	c.hear()
	c.states(SenderIdle, ReceiverWaiting)
	c.nothingToRead()
}

// Field note 5: the same while the chunk still waits to be read (RCV-13).
func TestStallTwoWhileTheChunkWaitsToBeRead(t *testing.T) {
	c := converse(t)
	c.submit(chunkOf(3000, 2))
	c.send(0, 1, 2)
	c.arrive()
	c.answer(ackOf(0, "111"))
	c.loseAcks()
	c.states(SenderSending, ReceiverReady)

	c.advance(250 * ms)
	c.send(1, 2)
	c.lose(2)
	c.arrive()
	c.answer(ackOf(0, "111"))
	c.hear()
	c.states(SenderIdle, ReceiverReady)
	c.read(chunkOf(3000, 2))
	c.nothingToRead()
}

// The same while the next chunk is arriving: a late slice of the chunk before
// is answered with that chunk's ack, beside the ack of the one that arrives.
func TestStallTwoWhileTheNextChunkArrives(t *testing.T) {
	c := converse(t)
	c.exchange(chunkOf(3000, 1))
	c.advance(Second)
	c.submit(chunkOf(2000, 2))
	c.send(0, 1)
	c.lose(1)
	c.arrive()
	c.forge(slicesOf(0, chunkOf(3000, 1))[1]) // doubled by the network, and late
	c.states(SenderSending, ReceiverReceiving)
	c.answer(ackOf(0, "111"), ackOf(1, "10"))
}

// Field note 2: all acks are lost for a while. Then they are not (LIVE-2).
func TestEveryAckIsLostAndThenNoMore(t *testing.T) {
	c := converse(t)
	chunk := chunkOf(5000, 3)
	c.submit(chunk)
	c.send(0, 1, 2, 3, 4)
	c.arrive()
	c.answer(ackOf(0, "11111"))
	c.loseAcks()
	for range 8 {
		c.sendAgain()
		c.arrive()
		c.answer(ackOf(0, "11111"))
		c.loseAcks()
	}
	c.advance(2 * ms)
	c.forge(slicesOf(0, chunk)[4])
	c.answer(ackOf(0, "11111"))
	c.hear()
	c.states(SenderIdle, ReceiverReady)
	c.read(chunk)
}
