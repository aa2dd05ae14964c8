using System;

namespace Chunkwire
{
    /// <summary>When each slice of a chunk was sent, by number and time (appendices G.1 and G.3). Numbers begin with 1.</summary>
    internal sealed class Transmissions
    {
        private const int GapSize = 2;

        private readonly int[] first = new int[Limits.MaxSlices];
        private readonly int[] last = new int[Limits.MaxSlices];
        private readonly long[] firstAt = new long[Limits.MaxSlices];
        private readonly long[] lastAt = new long[Limits.MaxSlices];
        private SliceSet sent;
        private int count;
        private int arrived;
        private int atBest;

        /// <summary>A chunk begins: nothing was sent (SCH-5).</summary>
        public void Start()
        {
            Array.Clear(first, 0, first.Length);
            Array.Clear(last, 0, last.Length);
            sent = default(SliceSet);
            count = 0;
            arrived = 0;
            atBest = 0;
        }

        /// <summary>Slices that were sent at least once.</summary>
        public SliceSet Sent
        {
            get { return sent; }
        }

        /// <summary>When slice k was sent last.</summary>
        public long LastAt(int k)
        {
            return lastAt[k];
        }

        /// <summary>When slice k was sent first.</summary>
        public long FirstAt(int k)
        {
            return firstAt[k];
        }

        /// <summary>SCH-7.</summary>
        public void Send(long now, int k)
        {
            count++;
            if (!sent.Contains(k))
            {
                sent = sent.With(k);
                first[k] = count;
                firstAt[k] = now;
            }
            last[k] = count;
            lastAt[k] = now;
        }

        /// <summary>Whether slice k was sent more than once.</summary>
        public bool IsResent(int k)
        {
            return first[k] != last[k];
        }

        /// <summary>The slice of a set that was sent last, or -1.</summary>
        public int Latest(in SliceSet slices)
        {
            int best = -1;
            for (int k = slices.NextFrom(0); k >= 0; k = slices.NextFrom(k + 1))
            {
                if (best < 0 || last[k] > last[best]) best = k;
            }
            return best;
        }

        /// <summary>GAP-1, step 3: slice k has arrived.</summary>
        /// <param name="k">The slice.</param>
        /// <param name="asLast">Whether it was its latest transmission; else it was the first.</param>
        public void Arrive(int k, bool asLast)
        {
            int number = asLast ? last[k] : first[k];
            if (number > arrived) arrived = number;
            if (last[k] > atBest) atBest = last[k];
        }

        /// <summary>TMR-4, step 1: had the first transmissions arrived, more of them would have been acked by now.</summary>
        public void ArriveAtBest()
        {
            arrived = atBest;
        }

        /// <summary>GAP-2: whether later transmissions than that of slice k have arrived.</summary>
        public bool IsOvertaken(int k)
        {
            return last[k] + GapSize <= arrived;
        }
    }
}
