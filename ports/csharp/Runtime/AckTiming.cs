using System;

namespace Chunkwire
{
    /// <summary>When a receiver sends its acks (section 8.6).</summary>
    internal struct AckTiming
    {
        /// <summary>Between two acks that are not urgent (<c>ACK_INTERVAL</c>).</summary>
        private const long Interval = 2 * Limits.Millisecond;

        /// <summary>After so many new slices an ack is urgent (<c>ACK_EVERY</c>).</summary>
        private const int Every = 16;

        private long soonest;
        private int unreported;
        private int lastNew;
        private bool afterGap;

        /// <summary>When acks go out; <see cref="Limits.Never"/> if none is due.</summary>
        public long At { get; private set; }

        /// <summary>Nothing is due, and no ack went out yet (AKT-6).</summary>
        public static AckTiming New()
        {
            var timing = new AckTiming { At = Limits.Never };
            timing.Start();
            return timing;
        }

        /// <summary>AKT-1.</summary>
        public void Start()
        {
            unreported = 0;
            lastNew = -1;
            afterGap = false;
        }

        /// <summary>AKT-2.</summary>
        public void Soon(long now)
        {
            DueAt(Math.Max(now, soonest));
        }

        /// <summary>Acks go out at the next poll.</summary>
        public void AtOnce(long now)
        {
            DueAt(now);
        }

        /// <summary>A new slice was stored (AKT-3, AKT-4).</summary>
        public void Stored(long now, int slice)
        {
            bool gap = slice != lastNew + 1;
            unreported++;
            if (gap || afterGap || unreported >= Every) AtOnce(now);
            else Soon(now);
            lastNew = slice;
            afterGap = gap;
        }

        /// <summary>The last ack that was due went out (AKT-5).</summary>
        public void AllSent(long now)
        {
            At = Limits.Never;
            soonest = now + Interval;
            unreported = 0;
        }

        private void DueAt(long time)
        {
            At = Math.Min(At, time);
        }
    }
}
