using System;

namespace Chunkwire
{
    /// <summary>
    /// Bytes that may be sent (appendix G.4).
    /// Amounts are in millionths of a byte, so that a rate in bytes a second times microseconds is exact.
    /// </summary>
    internal struct Budget
    {
        private const long Unit = 1000000;
        private const long LongestPay = 1000 * Limits.Second;

        private readonly long rate;
        private readonly long cap;
        private readonly long burst;
        private readonly bool acksPay;
        private long left;
        private long paidAt;
        private long byTime;

        /// <summary>A full budget.</summary>
        public Budget(in Profile profile)
        {
            rate = profile.Rate;
            cap = profile.Cap * Unit;
            burst = profile.Burst * Unit;
            acksPay = profile.AcksPay;
            left = cap;
            paidAt = 0;
            byTime = 0;
        }

        /// <summary>BUD-5, and what SCH-5 says of the budget.</summary>
        public void Start(long now)
        {
            Pay(now);
            left = Math.Max(left, burst);
            byTime = 0;
        }

        /// <summary>BUD-3: time refills the budget.</summary>
        public void Pay(long now)
        {
            long earned = rate * Math.Min(now - paidAt, LongestPay);
            paidAt = now;
            byTime = Math.Min(byTime + earned, cap);
            left = Math.Min(left + earned, cap);
        }

        /// <summary>BUD-2: takes a cost in bytes if the budget covers it, and returns whether it does.</summary>
        public bool TryTake(int cost)
        {
            if (rate == 0) return true;
            if (left < cost * Unit) return false;
            left -= cost * Unit;
            return true;
        }

        /// <summary>BUD-4: when the budget covers a cost in bytes.</summary>
        public long CoveredAt(int cost)
        {
            long missing = cost * Unit - left;
            return rate == 0 || missing <= 0 ? paidAt : paidAt + (missing + rate - 1) / rate;
        }

        /// <summary>BUD-6: slices of this cost in bytes have arrived.</summary>
        public void Arrived(int cost)
        {
            if (!acksPay) return;
            long amount = cost * Unit;
            if (amount > byTime) left = Math.Min(left + amount - byTime, cap);
            byTime = 0;
        }
    }
}
