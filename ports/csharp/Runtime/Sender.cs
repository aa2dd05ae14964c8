using System;

namespace Chunkwire
{
    /// <summary>The states of section 7.1.</summary>
    public enum SenderState
    {
        /// <summary>No chunk is in flight.</summary>
        Idle,

        /// <summary>A chunk is in flight.</summary>
        Sending,

        /// <summary>Gave up; a new connection is needed (SND-15).</summary>
        Failed,
    }

    /// <summary>The rows of the table in section 7.3, and none before the first event.</summary>
    public enum SenderRow
    {
#pragma warning disable 1591 // The table says what they are.
        None, S1, S2, S3, S4, S5, S6, S7, S8, S9, S10, S11, S12, S13, S14, S15, S16,
#pragma warning restore 1591
    }

    /// <summary>
    /// Decides which slice goes next and when (section 9); it must meet SCH-1 to SCH-4.
    /// Times are in microseconds and never go backward.
    /// </summary>
    public interface IScheduler
    {
        /// <summary>When to ask for a slice again (SCH-3).</summary>
        long Deadline { get; }

        /// <summary>A chunk begins.</summary>
        /// <param name="now">The time.</param>
        /// <param name="size">The chunk's bytes.</param>
        void Start(long now, int size);

        /// <summary>These slices are now known to have arrived, and were not before.</summary>
        void News(long now, in SliceSet slices);

        /// <summary>The peer is there, but cannot take the chunk yet.</summary>
        void Hold(long now);

        /// <summary>The slice that goes out now.</summary>
        /// <returns>False if none does.</returns>
        bool TryNext(long now, out int slice);
    }

    /// <summary>
    /// Sends one chunk after the other (section 7). It has no socket, clock or thread, and does nothing between calls.
    /// Times are in microseconds of a clock that only runs forward (TIM-2).
    /// </summary>
    public sealed class Sender
    {
        private readonly IScheduler scheduler;
        private readonly long giveUp;
        private long latest;
        private byte[] chunk;
        private int offset;
        private int count;
        private SliceSet sent;
        private SliceSet acked;
        private long heardAt;

        /// <summary>A sender in the state IDLE (SND-21).</summary>
        /// <param name="scheduler">Its scheduler, which no other sender has.</param>
        /// <param name="firstChunkId"><c>FIRST_ID</c>: 0 unless both ends agree on another.</param>
        /// <param name="giveUp"><c>GIVE_UP</c>, microseconds without a newly acked slice or a hold.</param>
        public Sender(IScheduler scheduler, int firstChunkId = 0, long giveUp = Limits.DefaultGiveUp)
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
        public SenderRow Row { get; private set; }

        /// <summary>Id of the chunk in flight, else of the next one.</summary>
        public int ChunkId { get; private set; }

        /// <summary>Slices of the chunk in flight, 0 if there is none.</summary>
        public int NumSlices { get; private set; }

        /// <summary>Those of them that are known to have arrived.</summary>
        public SliceSet Acked
        {
            get { return State == SenderState.Sending ? acked : default(SliceSet); }
        }

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
        /// <returns>False if it is refused: for its size (S2), since one is in flight (S3), or since the sender gave up (S4).</returns>
        public bool TrySubmit(long now, byte[] chunk, int offset, int count)
        {
            if (chunk == null) throw new ArgumentNullException("chunk");
            if (offset < 0 || count < 0 || offset > chunk.Length - count) throw new ArgumentOutOfRangeException("offset", "outside the array");
            Advance(now);
            Row = Submission(count);
            if (Row != SenderRow.S1) return false;
            this.chunk = chunk;
            this.offset = offset;
            this.count = count;
            Start();
            return true;
        }

        /// <summary>A valid ack has arrived (SND-2). On a tie with the deadline it comes before the poll (SND-4).</summary>
        /// <returns>The row: at S10 the chunk was delivered.</returns>
        public SenderRow Take(long now, in Ack ack)
        {
            Advance(now);
            switch (State)
            {
                case SenderState.Idle: return Row = SenderRow.S5;
                case SenderState.Failed: return Row = SenderRow.S11;
                default: return Row = TakeSending(ack);
            }
        }

        /// <summary>Asks what is to be sent; repeat until there is nothing (SND-3).</summary>
        /// <returns>False if no slice goes out; at row S15 the sender gives up.</returns>
        public bool TryPoll(long now, out Slice slice)
        {
            Advance(now);
            slice = default(Slice);
            switch (State)
            {
                case SenderState.Idle: Row = SenderRow.S12; return false;
                case SenderState.Failed: Row = SenderRow.S16; return false;
                default: return TryPollSending(out slice);
            }
        }

        /// <summary>TIM-1.</summary>
        private void Advance(long now)
        {
            latest = Math.Max(latest, now);
        }

        private SenderRow Submission(int size)
        {
            switch (State)
            {
                case SenderState.Sending: return SenderRow.S3;
                case SenderState.Failed: return SenderRow.S4;
                default: return Limits.IsWithin(size, 1, Limits.MaxChunk) ? SenderRow.S1 : SenderRow.S2;
            }
        }

        /// <summary>SND-10.</summary>
        private void Start()
        {
            State = SenderState.Sending;
            NumSlices = Limits.SlicesIn(count);
            sent = default(SliceSet);
            acked = default(SliceSet);
            heardAt = latest;
            scheduler.Start(latest, count);
        }

        /// <summary>SND-5 to SND-8, in the order of SND-22.</summary>
        private SenderRow TakeSending(in Ack ack)
        {
            if (ack.ChunkId != ChunkId || ack.NumSlices != NumSlices) return SenderRow.S6;
            SliceSet news = (ack.Acked & sent).Except(acked);
            if (!news.IsEmpty) return Note(news);
            if (!ack.Acked.IsEmpty || !acked.IsEmpty || sent.IsEmpty) return SenderRow.S7;
            heardAt = latest; // HEAR, SND-11
            scheduler.Hold(latest); // HELD, SND-23
            return SenderRow.S8;
        }

        /// <summary>NOTE and, if nothing is missing any more, COMPLETE (SND-12, SND-13).</summary>
        private SenderRow Note(in SliceSet news)
        {
            heardAt = latest;
            acked |= news;
            scheduler.News(latest, news);
            if (acked.Count < NumSlices) return SenderRow.S9;
            Drop(SenderState.Idle);
            ChunkId = Limits.NextChunkId(ChunkId);
            return SenderRow.S10;
        }

        /// <summary>SND-9, SND-14, SND-19.</summary>
        private bool TryPollSending(out Slice slice)
        {
            slice = default(Slice);
            if (latest - heardAt >= giveUp)
            {
                Drop(SenderState.Failed);
                Row = SenderRow.S15;
                return false;
            }
            if (!scheduler.TryNext(latest, out int id))
            {
                Row = SenderRow.S14;
                return false;
            }
            sent = sent.With(id);
            slice = SliceOf(id);
            Row = SenderRow.S13;
            return true;
        }

        /// <summary>LIM-2, LIM-3.</summary>
        private Slice SliceOf(int id)
        {
            int start = Limits.SliceSize * id;
            return new Slice(ChunkId, id, NumSlices, chunk, offset + start, Math.Min(Limits.SliceSize, count - start));
        }

        private void Drop(SenderState next)
        {
            State = next;
            NumSlices = 0;
            chunk = null;
        }
    }
}
