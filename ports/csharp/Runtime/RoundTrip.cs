using System;

namespace Chunkwire
{
    /// <summary>The estimate of the round trip, and the delays that follow from it (appendices G.2 and G.3).</summary>
    internal struct RoundTrip
    {
        private const long InitialDelay = 250 * Limits.Millisecond;
        private const long LongestDelay = 3 * Limits.Second;
        private const long LeastMargin = 5 * Limits.Millisecond;
        private const long SampleSlack = Limits.Millisecond;
        private const long LongestSample = 1L << 40;
        private const long RepeatDelay = 250 * Limits.Millisecond;
        private const long HoldDelay = 250 * Limits.Millisecond;
        private const long ShortestHoldDelay = 2 * Limits.Millisecond;

        private enum Knowledge
        {
            Nothing,
            Bound,
            Measured,
        }

        private readonly long fixedDelay;
        private Knowledge known;
        private long srtt;
        private long rttvar;
        private long minRtt;
        private long bound;

        /// <summary>Nothing is known yet.</summary>
        /// <param name="fixedDelay">The profile's resend delay, or 0.</param>
        public RoundTrip(long fixedDelay)
        {
            this = default(RoundTrip);
            this.fixedDelay = fixedDelay;
            bound = Limits.Never;
        }

        /// <summary>Whether there was a sample.</summary>
        public bool IsMeasured
        {
            get { return known == Knowledge.Measured; }
        }

        /// <summary>Whether it is measured, or a bound is known.</summary>
        public bool IsKnown
        {
            get { return known != Knowledge.Nothing; }
        }

        /// <summary>The estimate, 0 while nothing is known.</summary>
        public long Srtt
        {
            get { return srtt; }
        }

        /// <summary>TMR-2.</summary>
        public long BaseDelay
        {
            get
            {
                if (fixedDelay > 0) return fixedDelay;
                return known == Knowledge.Nothing ? InitialDelay : Math.Min(srtt + Variation, LongestDelay);
            }
        }

        /// <summary>TMR-3.</summary>
        public long Margin
        {
            get { return fixedDelay > 0 || known == Knowledge.Nothing ? 0 : Math.Min(Variation, BaseDelay); }
        }

        /// <summary>V of TMR-2.</summary>
        private long Variation
        {
            get { return Math.Max(LeastMargin, Math.Max(srtt / 8, 4 * rttvar)); }
        }

        /// <summary>RTT-7.</summary>
        public static long Clip(long r)
        {
            return Math.Min(r, LongestSample);
        }

        /// <summary>RTT-6.</summary>
        public void Start()
        {
            if (IsMeasured || bound == Limits.Never) return;
            srtt = bound;
            rttvar = bound / 16;
            known = Knowledge.Bound;
        }

        /// <summary>RTT-2: a sample that is sure.</summary>
        public void Measure(long r)
        {
            r = Clip(r);
            if (IsMeasured)
            {
                minRtt = Math.Min(minRtt, r);
                Smooth(r);
                return;
            }
            srtt = r;
            rttvar = r / 8;
            minRtt = r;
            known = Knowledge.Measured;
        }

        /// <summary>RTT-5.</summary>
        public void Smooth(long r)
        {
            long d = Math.Min(Clip(r), srtt * 3 / 2 + SampleSlack) - srtt;
            if (d >= 0)
            {
                rttvar += (d - rttvar) / 4;
                srtt += d / 8;
                return;
            }
            rttvar += (Math.Min(-d, rttvar) - rttvar) / 4;
            srtt += d / 4;
        }

        /// <summary>RTT-4: the round trip is not longer.</summary>
        public void Limit(long r)
        {
            bound = Math.Min(bound, Clip(r));
        }

        /// <summary>Whether an ack may have taken so long: none is faster than every one before (RTT-3, GAP-1).</summary>
        public bool IsPlausible(long elapsed)
        {
            return IsMeasured && elapsed >= minRtt;
        }

        /// <summary>D of TMR-5.</summary>
        public long Delay(int backoff)
        {
            long first = BaseDelay;
            return backoff == 0 ? first : Math.Min(first << backoff, Math.Max(first / 8, RepeatDelay));
        }

        /// <summary>H of TMR-6.</summary>
        /// <param name="lasted">From the hold to the latest probe.</param>
        public long DelayOfProbes(long lasted)
        {
            if (fixedDelay > 0) return fixedDelay;
            if (known == Knowledge.Nothing) return HoldDelay;
            return Math.Min(Math.Max(srtt, Math.Max(ShortestHoldDelay, lasted / 4)), HoldDelay);
        }
    }
}
