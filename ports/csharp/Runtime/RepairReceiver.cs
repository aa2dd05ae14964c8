using System;

namespace Chunkwire
{
    /// <summary>The rows of the table in section 6.2 of REPAIR.md, and none before the first event.</summary>
    public enum RepairReceiverRow
    {
#pragma warning disable 1591 // The table says what they are.
        None, U1, U2, U3, U4, U5, U6, U7, U8, U9, U10, U11, U12, U13, U14, U15,
        U16, U17, U18, U19, U20, U21, U22, U23, U24, U25, U26, U27, U28, U29,
#pragma warning restore 1591
    }

    /// <summary>
    /// Receives one chunk after the other, from slices of which any will do (REPAIR.md, section 6), with the timing of RPK-2.
    /// It has no socket, clock or thread, and does nothing between calls.
    /// Times are in microseconds of a clock that only runs forward (TIM-2).
    /// </summary>
    public sealed class RepairReceiver
    {
        private readonly long giveUp;
        private readonly RepairDecoder decoder = new RepairDecoder(); // its memory is set aside before the connection (RPR-14)
        private readonly byte[] spare = new byte[Limits.SliceSize];
        private AckTiming timing = AckTiming.New();
        private long latest;
        private long progressAt;
        private long top;
        private int spareId; // of the first dependent slice (RPR-11), -1: no such slice
        private bool compared; // a late slice of the chunk in READY (RPR-11)
        private int previousSlices;
        private long previousTop;
        private bool previousPending;
        private bool currentPending;
        private bool holdPending;
        private int heldSlices;

        /// <summary>A receiver in the state WAITING (RPR-1), with memory for a chunk.</summary>
        /// <param name="firstChunkId"><c>FIRST_ID</c>: 0 unless both ends agree on another.</param>
        /// <param name="giveUp"><c>GIVE_UP</c>, microseconds without a stored slice.</param>
        public RepairReceiver(int firstChunkId = 0, long giveUp = Limits.DefaultGiveUp)
        {
            Limits.CheckParameters(firstChunkId, giveUp);
            ChunkId = firstChunkId;
            this.giveUp = giveUp;
        }

        /// <summary>The state.</summary>
        public ReceiverState State { get; private set; }

        /// <summary>The row that the latest event took.</summary>
        public RepairReceiverRow Row { get; private set; }

        /// <summary>Id of the current chunk: the one that arrives, or is to come next.</summary>
        public int ChunkId { get; private set; }

        /// <summary>Slices of the chunk that arrives; 0 but in RECEIVING.</summary>
        public int NumSlices
        {
            get { return State == ReceiverState.Receiving ? decoder.NumSlices : 0; }
        }

        /// <summary>How many independent slices of it are here.</summary>
        public int Have
        {
            get { return State == ReceiverState.Receiving ? decoder.Rank : 0; }
        }

        /// <summary>One more than the highest number of a transmission of it that arrived (section 2.3).</summary>
        public long Top
        {
            get { return State == ReceiverState.Receiving ? top : 0; }
        }

        /// <summary>Slices that did not match the size of their chunk (RPR-4).</summary>
        public long Conflicts { get; private set; }

        /// <summary>How often a slice and the rebuilt chunk did not agree, so that some slice was forged (RPR-11, RPH-2).</summary>
        public long Inconsistent { get; private set; }

        /// <summary>When to poll again, or as soon after it as possible (RCV-17).</summary>
        public long Deadline
        {
            get { return State == ReceiverState.Receiving ? Math.Min(timing.At, progressAt + giveUp) : timing.At; }
        }

        /// <summary>A valid slice has arrived (RCV-1). On a tie with the deadline it comes before the poll (RCV-2).</summary>
        /// <returns>The row: at U1, U6 and U11 the chunk is complete.</returns>
        public RepairReceiverRow Take(long now, in RepairSlice slice)
        {
            Advance(now);
            if (State == ReceiverState.Failed) return Row = RepairReceiverRow.U27;
            if (IsPrevious(slice)) return Row = AckPrevious(slice);
            if (slice.ChunkId != ChunkId) return Row = Rows(RepairReceiverRow.U4, RepairReceiverRow.U13, RepairReceiverRow.U16); // RCV-4
            switch (State)
            {
                case ReceiverState.Ready: return Row = Hold(slice);
                case ReceiverState.Receiving: return Row = TakeReceiving(slice);
                default: return Row = Begin(slice) ? RepairReceiverRow.U1 : RepairReceiverRow.U2;
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
            Row = ready ? RepairReceiverRow.U17 : Rows(RepairReceiverRow.U18, RepairReceiverRow.U19, RepairReceiverRow.U28);
            chunk = ready ? decoder.Chunk : default(ArraySegment<byte>);
            if (ready) State = ReceiverState.Waiting;
            return ready;
        }

        /// <summary>Asks which ack is to be sent; repeat until there is none (RCV-1).</summary>
        /// <returns>False if no ack is sent; at row U24 the receiver gives up.</returns>
        public bool TryPoll(long now, out RepairAck ack)
        {
            Advance(now);
            ack = default(RepairAck);
            Row = Polled();
            if (Row != RepairReceiverRow.U20 && Row != RepairReceiverRow.U22 && Row != RepairReceiverRow.U25) return false;
            ack = NextAck();
            if (!(previousPending || currentPending || holdPending)) timing.AllSent(latest); // RCV-16
            return true;
        }

        /// <summary>TIM-1.</summary>
        private void Advance(long now)
        {
            latest = Math.Max(latest, now);
        }

        /// <summary>Of rows that differ by the state only the one of this state; the last is of READY or FAILED.</summary>
        private RepairReceiverRow Rows(RepairReceiverRow waiting, RepairReceiverRow receiving, RepairReceiverRow other)
        {
            if (State == ReceiverState.Waiting) return waiting;
            return State == ReceiverState.Receiving ? receiving : other;
        }

        /// <summary>RCV-3, RCV-6.</summary>
        private bool IsPrevious(in RepairSlice slice)
        {
            return slice.ChunkId == Limits.PreviousChunkId(ChunkId) && slice.NumSlices == previousSlices;
        }

        /// <summary>RCV-13: a duplicate may mean that its ack was lost.</summary>
        private RepairReceiverRow AckPrevious(in RepairSlice slice)
        {
            previousPending = true;
            timing.Soon(latest);
            if (State == ReceiverState.Ready && !compared) CompareLate(slice);
            return Rows(RepairReceiverRow.U3, RepairReceiverRow.U12, RepairReceiverRow.U15);
        }

        /// <summary>RPR-4, RPR-5.</summary>
        private RepairReceiverRow TakeReceiving(in RepairSlice slice)
        {
            if (slice.NumSlices != decoder.NumSlices || slice.LastBytes != decoder.LastBytes)
            {
                if (latest - progressAt >= giveUp / 2) return Begin(slice) ? RepairReceiverRow.U11 : RepairReceiverRow.U10;
                Conflicts++;
                return RepairReceiverRow.U9;
            }
            NoteTop(slice);
            if (decoder.Has(slice.SliceId)) return AckCurrent(RepairReceiverRow.U7);
            if (!decoder.Add(slice))
            {
                KeepSpare(slice);
                return AckCurrent(RepairReceiverRow.U8);
            }
            return Stored(slice) ? RepairReceiverRow.U6 : RepairReceiverRow.U5;
        }

        /// <summary>RCV-13: a duplicate may mean that its ack was lost.</summary>
        private RepairReceiverRow AckCurrent(RepairReceiverRow row)
        {
            currentPending = true;
            timing.Soon(latest);
            return row;
        }

        /// <summary>RCV-14.</summary>
        private RepairReceiverRow Hold(in RepairSlice slice)
        {
            heldSlices = slice.NumSlices;
            holdPending = true;
            timing.Soon(latest);
            return RepairReceiverRow.U14;
        }

        /// <summary>START, NOTE TOP, STORE (RPR-7); returns whether the chunk is complete.</summary>
        private bool Begin(in RepairSlice slice)
        {
            State = ReceiverState.Receiving;
            decoder.Start(slice.NumSlices, slice.LastBytes);
            top = 0;
            spareId = -1;
            holdPending = false;
            timing.Start();
            NoteTop(slice);
            decoder.Add(slice); // one row is always independent
            return Stored(slice);
        }

        /// <summary>RPR-6.</summary>
        private void NoteTop(in RepairSlice slice)
        {
            top = Math.Max(top, 1 + RepairCode.NumberOfArrival(slice.NumSlices, top, slice.SliceId));
        }

        /// <summary>The rest of STORE and, if nothing is missing any more, COMPLETE (RPR-8); returns whether the chunk is complete.</summary>
        private bool Stored(in RepairSlice slice)
        {
            progressAt = latest;
            currentPending = true;
            timing.Stored(latest, slice.SliceId);
            if (!decoder.IsComplete) return false;
            Complete();
            return true;
        }

        /// <summary>RPR-9.</summary>
        private void Complete()
        {
            if (!decoder.Rebuild()) Inconsistent++;
            if (spareId >= 0) Compare(spareId, spare, 0, RepairCode.SliceBytes(decoder.NumSlices, decoder.LastBytes, spareId));
            State = ReceiverState.Ready;
            previousSlices = decoder.NumSlices;
            previousTop = top;
            ChunkId = Limits.NextChunkId(ChunkId);
            compared = false;
            currentPending = false;
            previousPending = true;
            timing.AtOnce(latest); // ACQ-3
        }

        /// <summary>Step 2 of RPR-11.</summary>
        private void KeepSpare(in RepairSlice slice)
        {
            if (!slice.IsRepair || spareId >= 0) return;
            spareId = slice.SliceId;
            Buffer.BlockCopy(slice.Data, slice.Offset, spare, 0, slice.Count);
        }

        /// <summary>Step 3 of RPR-11.</summary>
        private void CompareLate(in RepairSlice slice)
        {
            if (!slice.IsRepair || slice.LastBytes != decoder.LastBytes || decoder.Has(slice.SliceId)) return;
            compared = true;
            Compare(slice.SliceId, slice.Data, slice.Offset, slice.Count);
        }

        private void Compare(int id, byte[] data, int offset, int count)
        {
            if (!decoder.Matches(id, data, offset, count)) Inconsistent++;
        }

        /// <summary>RCV-9.</summary>
        private RepairReceiverRow Polled()
        {
            if (State == ReceiverState.Failed) return RepairReceiverRow.U29;
            if (State == ReceiverState.Receiving && latest - progressAt >= giveUp) return GiveUp();
            if (latest >= timing.At) return Rows(RepairReceiverRow.U20, RepairReceiverRow.U22, RepairReceiverRow.U25);
            return Rows(RepairReceiverRow.U21, RepairReceiverRow.U23, RepairReceiverRow.U26);
        }

        /// <summary>RPR-13.</summary>
        private RepairReceiverRow GiveUp()
        {
            State = ReceiverState.Failed;
            previousPending = currentPending = holdPending = false;
            timing.AllSent(latest); // so that the deadline is NEVER (RCV-17)
            return RepairReceiverRow.U24;
        }

        /// <summary>RPR-12, in the order of RCV-16.</summary>
        private RepairAck NextAck()
        {
            if (previousPending)
            {
                previousPending = false;
                return AckOf(Limits.PreviousChunkId(ChunkId), previousSlices, previousSlices, previousTop);
            }
            if (currentPending)
            {
                currentPending = false;
                return AckOf(ChunkId, NumSlices, Have, top);
            }
            holdPending = false;
            return AckOf(ChunkId, heldSlices, 0, 0);
        }

        /// <summary>RPN-4.</summary>
        private static RepairAck AckOf(int chunkId, int numSlices, int have, long top)
        {
            return new RepairAck(chunkId, numSlices, have, RepairCode.IdOf(numSlices, top));
        }
    }
}
