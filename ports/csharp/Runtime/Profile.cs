using System;

namespace Chunkwire
{
    /// <summary>How fast the base algorithm sends (appendix G.5). Its figures are within BUD-1.</summary>
    public readonly struct Profile
    {
        internal const int BudgetMin = 1066;
        internal const int BudgetMax = 1000000000;

        private const int LargestCost = BudgetMin;

        /// <summary>Regular rate in bytes a second with headers; 0 means unlimited.</summary>
        public readonly int Rate;

        /// <summary>The most bytes that can be saved up.</summary>
        public readonly int Cap;

        /// <summary>Bytes that a chunk can begin with.</summary>
        public readonly int Burst;

        /// <summary>Whether what arrived pays for what is sent (BUD-6).</summary>
        public readonly bool AcksPay;

        /// <summary>Least time between two slices, in microseconds.</summary>
        public readonly long Spacing;

        /// <summary>Fixed delay before a slice is sent again, in microseconds; 0: from the round trip.</summary>
        public readonly long ResendDelay;

        private Profile(int rate, int cap, int burst, bool acksPay, long spacing, long resendDelay)
        {
            Rate = rate;
            Cap = cap;
            Burst = burst;
            AcksPay = acksPay;
            Spacing = spacing;
            ResendDelay = resendDelay;
        }

        /// <summary>A slice each 85 us, then as much as is seen to arrive. For private paths (section 1.3).</summary>
        public static Profile AllAtOnce
        {
            get { return new Profile(125000, 272896, 272896, true, 85, 0); }
        }

        /// <summary>A fixed rate.</summary>
        /// <param name="rate">Bytes a second with headers, 1,066 to 10^9.</param>
        public static Profile Fixed(int rate)
        {
            return Checked(rate, CapFor(rate), 0, false, 0, 0);
        }

        /// <summary>A fixed rate, and each slice again after 100 ms, as in the article.</summary>
        /// <param name="rate">Bytes a second with headers, 1,066 to 10^9.</param>
        public static Profile Article(int rate)
        {
            return Checked(rate, CapFor(rate), 0, false, 0, 100 * Limits.Millisecond);
        }

        /// <summary>A profile of one's own.</summary>
        /// <param name="rate">See <see cref="Rate"/>.</param>
        /// <param name="cap">See <see cref="Cap"/>.</param>
        /// <param name="burst">See <see cref="Burst"/>.</param>
        /// <param name="acksPay">See <see cref="AcksPay"/>.</param>
        /// <param name="spacing">See <see cref="Spacing"/>.</param>
        /// <param name="resendDelay">See <see cref="ResendDelay"/>.</param>
        /// <param name="profile">The profile.</param>
        /// <returns>False if a figure is outside its limits (BUD-1).</returns>
        public static bool TryCreate(long rate, long cap, long burst, bool acksPay, long spacing, long resendDelay, out Profile profile)
        {
            bool ok = (rate == 0 || Limits.IsWithin(rate, BudgetMin, BudgetMax))
                && Limits.IsWithin(cap, BudgetMin, BudgetMax)
                && Limits.IsWithin(burst, 0, cap)
                && Limits.IsWithin(spacing, 0, BudgetMax)
                && Limits.IsWithin(resendDelay, 0, BudgetMax);
            profile = ok ? new Profile((int)rate, (int)cap, (int)burst, acksPay, spacing, resendDelay) : default(Profile);
            return ok;
        }

        private static Profile Checked(long rate, long cap, long burst, bool acksPay, long spacing, long resendDelay)
        {
            if (rate == 0 || !TryCreate(rate, cap, burst, acksPay, spacing, resendDelay, out Profile profile))
            {
                throw new ArgumentOutOfRangeException("rate", "1,066 to 10^9 bytes a second");
            }
            return profile;
        }

        private static int CapFor(int rate)
        {
            return Math.Max(16 * LargestCost, rate / 50);
        }
    }
}
