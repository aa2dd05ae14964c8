using System;

namespace Chunkwire
{
    /// <summary>The states of section 8.1.</summary>
    public enum ReceiverState
    {
        /// <summary>Nothing of the current chunk is here.</summary>
        Waiting,

        /// <summary>Some slices of it are here.</summary>
        Receiving,

        /// <summary>A complete chunk waits to be read.</summary>
        Ready,

        /// <summary>Gave up; a new connection is needed.</summary>
        Failed,
    }

    /// <summary>The rows of the table in section 8.3, and none before the first event.</summary>
    public enum ReceiverRow
    {
#pragma warning disable 1591 // The table says what they are.
        None, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10, R11, R12, R13, R14,
        R15, R16, R17, R18, R19, R20, R21, R22, R23, R24, R25, R26, R27, R28,
#pragma warning restore 1591
    }

    /// <summary>
    /// Receives one chunk after the other (section 8), with the timing of acks of section 8.6.
    /// It has no socket, clock or thread, and does nothing between calls.
    /// Times are in microseconds of a clock that only runs forward (TIM-2).
    /// </summary>
    public sealed class Receiver
    {
        private readonly long giveUp;
        private readonly byte[] memory = new byte[Limits.MaxChunk]; // set aside before the connection (RCV-18)
        private AckTiming timing = AckTiming.New();
        private long latest;
        private int size;
        private long progressAt;
        private int previousSlices;
        private bool previousPending;
        private bool currentPending;
        private bool holdPending;
        private int heldSlices;

        /// <summary>A receiver in the state WAITING (RCV-20), with memory for a chunk.</summary>
        /// <param name="firstChunkId"><c>FIRST_ID</c>: 0 unless both ends agree on another.</param>
        /// <param name="giveUp"><c>GIVE_UP</c>, microseconds without a new slice.</param>
        public Receiver(int firstChunkId = 0, long giveUp = Limits.DefaultGiveUp)
        {
            Limits.CheckParameters(firstChunkId, giveUp);
            ChunkId = firstChunkId;
            this.giveUp = giveUp;
        }

        /// <summary>The state.</summary>
        public ReceiverState State { get; private set; }

        /// <summary>The row that the latest event took.</summary>
        public ReceiverRow Row { get; private set; }

        /// <summary>Id of the current chunk: the one that arrives, or is to come next.</summary>
        public int ChunkId { get; private set; }

        /// <summary>Slices of the chunk that arrives; 0 but in RECEIVING.</summary>
        public int NumSlices { get; private set; }

        /// <summary>Those of them that are here.</summary>
        public SliceSet Received { get; private set; }

        /// <summary>Slices that did not match the number of slices of their chunk (RCV-7).</summary>
        public long Conflicts { get; private set; }

        /// <summary>When to poll again, or as soon after it as possible (RCV-17).</summary>
        public long Deadline
        {
            get { return State == ReceiverState.Receiving ? Math.Min(timing.At, progressAt + giveUp) : timing.At; }
        }

        /// <summary>A valid slice has arrived (RCV-1). On a tie with the deadline it comes before the poll (RCV-2).</summary>
        /// <returns>The row: at R1, R6 and R10 the chunk is complete.</returns>
        public ReceiverRow Take(long now, in Slice slice)
        {
            Advance(now);
            if (State == ReceiverState.Failed) return Row = ReceiverRow.R26;
            if (IsPrevious(slice)) return Row = AckPrevious();
            if (slice.ChunkId != ChunkId) return Row = Rows(ReceiverRow.R4, ReceiverRow.R12, ReceiverRow.R15); // RCV-4
            switch (State)
            {
                case ReceiverState.Ready: return Row = Hold(slice);
                case ReceiverState.Receiving: return Row = TakeReceiving(slice);
                default: return Row = Begin(slice) ? ReceiverRow.R1 : ReceiverRow.R2;
            }
        }

        /// <summary>
        /// The application asks for a complete chunk, which is delivered once.
        /// It lies in the receiver's memory and may be overwritten by the next <see cref="Take"/>: use or copy it before.
        /// </summary>
        /// <returns>False if there is none.</returns>
        public bool TryRead(long now, out ArraySegment<byte> chunk)
        {
            Advance(now);
            bool ready = State == ReceiverState.Ready;
            Row = ready ? ReceiverRow.R16 : Rows(ReceiverRow.R17, ReceiverRow.R18, ReceiverRow.R27);
            chunk = ready ? new ArraySegment<byte>(memory, 0, size) : default(ArraySegment<byte>);
            if (ready) State = ReceiverState.Waiting;
            return ready;
        }

        /// <summary>Asks which ack is to be sent; repeat until there is none (RCV-1).</summary>
        /// <returns>False if no ack goes out; at row R23 the receiver gives up.</returns>
        public bool TryPoll(long now, out Ack ack)
        {
            Advance(now);
            ack = default(Ack);
            Row = Polled();
            if (Row != ReceiverRow.R19 && Row != ReceiverRow.R21 && Row != ReceiverRow.R24) return false;
            ack = SendAck();
            return true;
        }

        /// <summary>TIM-1.</summary>
        private void Advance(long now)
        {
            latest = Math.Max(latest, now);
        }

        /// <summary>Of rows that differ by the state only the one of this state; the last is that of READY or FAILED.</summary>
        private ReceiverRow Rows(ReceiverRow waiting, ReceiverRow receiving, ReceiverRow other)
        {
            if (State == ReceiverState.Waiting) return waiting;
            return State == ReceiverState.Receiving ? receiving : other;
        }

        /// <summary>RCV-3, RCV-6.</summary>
        private bool IsPrevious(in Slice slice)
        {
            return slice.ChunkId == Limits.PreviousChunkId(ChunkId) && slice.NumSlices == previousSlices;
        }

        /// <summary>RCV-13: a duplicate may mean that its ack was lost.</summary>
        private ReceiverRow AckPrevious()
        {
            previousPending = true;
            timing.Soon(latest);
            return Rows(ReceiverRow.R3, ReceiverRow.R11, ReceiverRow.R14);
        }

        /// <summary>RCV-7, RCV-8.</summary>
        private ReceiverRow TakeReceiving(in Slice slice)
        {
            if (slice.NumSlices != NumSlices)
            {
                if (latest - progressAt >= giveUp / 2) return Begin(slice) ? ReceiverRow.R10 : ReceiverRow.R9;
                Conflicts++;
                return ReceiverRow.R8;
            }
            if (Received.Contains(slice.SliceId)) return AckCurrent();
            return Store(slice) ? ReceiverRow.R6 : ReceiverRow.R5;
        }

        /// <summary>RCV-13: a duplicate may mean that its ack was lost.</summary>
        private ReceiverRow AckCurrent()
        {
            currentPending = true;
            timing.Soon(latest);
            return ReceiverRow.R7;
        }

        /// <summary>RCV-14.</summary>
        private ReceiverRow Hold(in Slice slice)
        {
            heldSlices = slice.NumSlices;
            holdPending = true;
            timing.Soon(latest);
            return ReceiverRow.R13;
        }

        /// <summary>START, then STORE (RCV-10); returns whether the chunk is complete.</summary>
        private bool Begin(in Slice slice)
        {
            State = ReceiverState.Receiving;
            NumSlices = slice.NumSlices;
            Received = default(SliceSet);
            holdPending = false;
            timing.Start();
            return Store(slice);
        }

        /// <summary>STORE and, if nothing is missing any more, COMPLETE (RCV-11); returns whether the chunk is complete.</summary>
        private bool Store(in Slice slice)
        {
            int start = Limits.SliceSize * slice.SliceId;
            Buffer.BlockCopy(slice.Data, slice.Offset, memory, start, slice.Count);
            if (slice.IsLast) size = start + slice.Count;
            Received = Received.With(slice.SliceId);
            progressAt = latest;
            currentPending = true;
            timing.Stored(latest, slice.SliceId);
            if (Received.Count < NumSlices) return false;
            Complete();
            return true;
        }

        /// <summary>RCV-12.</summary>
        private void Complete()
        {
            State = ReceiverState.Ready;
            previousSlices = NumSlices;
            NumSlices = 0;
            Received = default(SliceSet);
            ChunkId = Limits.NextChunkId(ChunkId);
            currentPending = false;
            previousPending = true;
            timing.AtOnce(latest); // ACQ-3
        }

        /// <summary>RCV-9.</summary>
        private ReceiverRow Polled()
        {
            if (State == ReceiverState.Failed) return ReceiverRow.R28;
            if (State == ReceiverState.Receiving && latest - progressAt >= giveUp) return GiveUp();
            if (latest >= timing.At) return Rows(ReceiverRow.R19, ReceiverRow.R21, ReceiverRow.R24);
            return Rows(ReceiverRow.R20, ReceiverRow.R22, ReceiverRow.R25);
        }

        /// <summary>RCV-19.</summary>
        private ReceiverRow GiveUp()
        {
            State = ReceiverState.Failed;
            NumSlices = 0;
            Received = default(SliceSet);
            previousPending = currentPending = holdPending = false;
            timing.AllSent(latest); // so that the deadline is NEVER (RCV-17)
            return ReceiverRow.R23;
        }

        /// <summary>RCV-16.</summary>
        private Ack SendAck()
        {
            Ack ack = NextAck();
            if (!(previousPending || currentPending || holdPending)) timing.AllSent(latest);
            return ack;
        }

        private Ack NextAck()
        {
            if (previousPending)
            {
                previousPending = false;
                return new Ack(Limits.PreviousChunkId(ChunkId), previousSlices, SliceSet.First(previousSlices));
            }
            if (currentPending)
            {
                currentPending = false;
                return new Ack(ChunkId, NumSlices, Received);
            }
            holdPending = false;
            return new Ack(ChunkId, heldSlices, default(SliceSet));
        }
    }
}
