using System;

namespace Chunkwire
{
    /// <summary>The rows of the table in section 5.2 of REPAIR.md, and none before the first event.</summary>
    public enum RepairSenderRow
    {
#pragma warning disable 1591 // The table says what they are.
        None, T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T12, T13, T14, T15, T16,
#pragma warning restore 1591
    }

    /// <summary>
    /// Decides when the next slice is sent (REPAIR.md, section 5.4); it must meet RPX-9 to RPX-11.
    /// Times are in microseconds and never go backward.
    /// </summary>
    public interface IRepairScheduler
    {
        /// <summary>When to ask again, if no ack arrives before (RPX-10).</summary>
        long Deadline { get; }

        /// <summary>A chunk begins.</summary>
        /// <param name="now">The time.</param>
        /// <param name="numSlices">The chunk's slices.</param>
        void Start(long now, int numSlices);

        /// <summary>What has arrived; one of the two has grown.</summary>
        /// <param name="now">The time.</param>
        /// <param name="have">How many independent slices the receiver has.</param>
        /// <param name="top">One more than the highest number of a transmission that arrived.</param>
        void News(long now, int have, long top);

        /// <summary>The peer is there, but cannot take the chunk yet.</summary>
        void Hold(long now);

        /// <summary>Whether the next slice is sent now; then it counts as sent.</summary>
        bool TryNext(long now);
    }

    /// <summary>
    /// Sends one chunk after the other: its slices, and then repair slices until enough have arrived (REPAIR.md, section 5).
    /// It has no socket, clock or thread, and does nothing between calls.
    /// Times are in microseconds of a clock that only runs forward (TIM-2).
    /// </summary>
    public sealed class RepairSender
    {
        private readonly IRepairScheduler scheduler;
        private readonly long giveUp;
        private readonly RepairSum sum = new RepairSum();
        private long latest;
        private byte[] chunk;
        private int offset;
        private int count;
        private long heardAt;

        /// <summary>A sender in the state IDLE (RPX-1).</summary>
        /// <param name="scheduler">Its scheduler, which no other sender has.</param>
        /// <param name="firstChunkId"><c>FIRST_ID</c>: 0 unless both ends agree on another.</param>
        /// <param name="giveUp"><c>GIVE_UP</c>, microseconds without news or a hold.</param>
        public RepairSender(IRepairScheduler scheduler, int firstChunkId = 0, long giveUp = Limits.DefaultGiveUp)
        {
            if (scheduler == null) throw new ArgumentNullException("scheduler");
            Limits.CheckParameters(firstChunkId, giveUp);
            this.scheduler = scheduler;
            this.giveUp = giveUp;
            ChunkId = firstChunkId;
        }

        /// <summary>The state.</summary>
        public SenderState State { get; private set; }

        /// <summary>The row that the latest event took.</summary>
        public RepairSenderRow Row { get; private set; }

        /// <summary>Id of the chunk in flight, else of the next one.</summary>
        public int ChunkId { get; private set; }

        /// <summary>Slices of the chunk in flight, 0 if there is none.</summary>
        public int NumSlices { get; private set; }

        /// <summary>How many slices of it were sent, source and repair.</summary>
        public long Sent { get; private set; }

        /// <summary>How many independent slices of it are known to have arrived; <see cref="NumSlices"/> are needed.</summary>
        public int Have { get; private set; }

        /// <summary>One more than the highest number of a transmission of it that is known to have arrived (section 2.3).</summary>
        public long Top { get; private set; }

        /// <summary>When to poll again, or as soon after it as possible (SND-16).</summary>
        public long Deadline
        {
            get { return State == SenderState.Sending ? Math.Min(scheduler.Deadline, heardAt + giveUp) : Limits.Never; }
        }

        /// <summary>
        /// The application wants a chunk sent (SND-1).
        /// The bytes are not copied and must stay as they are until the chunk was delivered (SND-18).
        /// </summary>
        /// <param name="now">The time.</param>
        /// <param name="chunk">The array in which the chunk lies.</param>
        /// <param name="offset">Where it begins.</param>
        /// <param name="count">The chunk's bytes, 1 to <see cref="Limits.MaxChunk"/>.</param>
        /// <returns>False if it is refused: for its size (T2), since one is in flight (T3), or since the sender gave up (T4).</returns>
        public bool TrySubmit(long now, byte[] chunk, int offset, int count)
        {
            Codec.CheckRange(chunk, offset, count);
            Advance(now);
            Row = Submission(count);
            if (Row != RepairSenderRow.T1) return false;
            this.chunk = chunk;
            this.offset = offset;
            this.count = count;
            Start();
            return true;
        }

        /// <summary>A valid ack has arrived (SND-3). On a tie with the deadline it comes before the poll (SND-4).</summary>
        /// <returns>The row: at T10 the chunk was delivered.</returns>
        public RepairSenderRow Take(long now, in RepairAck ack)
        {
            Advance(now);
            switch (State)
            {
                case SenderState.Idle: return Row = RepairSenderRow.T5;
                case SenderState.Failed: return Row = RepairSenderRow.T11;
                default: return Row = TakeSending(ack);
            }
        }

        /// <summary>
        /// Asks what is to be sent; repeat until there is nothing (SND-3).
        /// The data of a repair slice lie in the sender's memory until the next call.
        /// </summary>
        /// <returns>False if no slice is sent; at row T15 the sender gives up.</returns>
        public bool TryPoll(long now, out RepairSlice slice)
        {
            Advance(now);
            slice = default(RepairSlice);
            Row = Polled();
            if (Row != RepairSenderRow.T13) return false;
            slice = SliceOf(RepairCode.IdOf(NumSlices, Sent)); // RPX-7
            Sent++;
            return true;
        }

        /// <summary>TIM-1.</summary>
        private void Advance(long now)
        {
            latest = Math.Max(latest, now);
        }

        private RepairSenderRow Submission(int size)
        {
            switch (State)
            {
                case SenderState.Sending: return RepairSenderRow.T3;
                case SenderState.Failed: return RepairSenderRow.T4;
                default: return Limits.IsWithin(size, 1, Limits.MaxChunk) ? RepairSenderRow.T1 : RepairSenderRow.T2;
            }
        }

        /// <summary>RPX-5.</summary>
        private void Start()
        {
            State = SenderState.Sending;
            NumSlices = Limits.SlicesIn(count);
            heardAt = latest;
            scheduler.Start(latest, NumSlices);
        }

        /// <summary>RPX-3, RPX-4.</summary>
        private RepairSenderRow TakeSending(in RepairAck ack)
        {
            if (ack.ChunkId != ChunkId || ack.NumSlices != NumSlices) return RepairSenderRow.T6;
            long top = RepairCode.NumberOfField(NumSlices, Sent, ack.Top);
            if (ack.Have > top) return RepairSenderRow.T6; // also if there is no number
            if (ack.Have > Have || top > Top) return Note(ack.Have, top);
            if (Have > 0 || Top > 0 || Sent == 0) return RepairSenderRow.T7;
            heardAt = latest; // HEAR, SND-11
            scheduler.Hold(latest); // HELD, SND-23
            return RepairSenderRow.T8;
        }

        /// <summary>NOTE and, if nothing is missing any more, COMPLETE (RPX-6, RPX-8).</summary>
        private RepairSenderRow Note(int have, long top)
        {
            heardAt = latest;
            Have = Math.Max(Have, have);
            Top = Math.Max(Top, top);
            scheduler.News(latest, Have, Top);
            if (Have < NumSlices) return RepairSenderRow.T9;
            Drop(SenderState.Idle);
            ChunkId = Limits.NextChunkId(ChunkId);
            return RepairSenderRow.T10;
        }

        private RepairSenderRow Polled()
        {
            if (State == SenderState.Idle) return RepairSenderRow.T12;
            if (State == SenderState.Failed) return RepairSenderRow.T16;
            if (latest - heardAt < giveUp) return scheduler.TryNext(latest) ? RepairSenderRow.T13 : RepairSenderRow.T14;
            Drop(SenderState.Failed); // SND-9
            return RepairSenderRow.T15;
        }

        /// <summary>RPS-1 to RPS-4.</summary>
        private RepairSlice SliceOf(int id)
        {
            int lastBytes = count - Limits.SliceSize * (NumSlices - 1);
            int size = RepairCode.SliceBytes(NumSlices, lastBytes, id);
            if (id < NumSlices) return new RepairSlice(ChunkId, id, NumSlices, lastBytes, chunk, offset + Limits.SliceSize * id, size);
            sum.Make(chunk, offset, count, id - NumSlices, SliceSet.First(NumSlices));
            return new RepairSlice(ChunkId, id, NumSlices, lastBytes, sum.Block, 0, size);
        }

        /// <summary>RPX-8.</summary>
        private void Drop(SenderState next)
        {
            State = next;
            NumSlices = 0;
            Sent = 0;
            Have = 0;
            Top = 0;
            chunk = null;
        }
    }
}
