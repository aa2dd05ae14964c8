using System;

namespace Chunkwire
{
    /// <summary>
    /// The recommended rule of a sender of repair slices (REPAIR.md, section 7), for one lane.
    /// It keeps as many slices under way as it takes for the missing ones to arrive, and controls congestion as <see cref="AdaptiveScheduler"/> does.
    /// </summary>
    public sealed class RatelessScheduler : IRepairScheduler
    {
        private const int MostNeed = 1024;
        private const int KeptTimes = 1024;
        private const int Probes = 2;
        private const int AnyNumber = -1;

        private readonly Controller controller;
        private readonly int deviations; // their square, the Z of RPL-4
        private bool wasHeld;

        // What belongs to the chunk in flight (RPL-2).
        private readonly long[] sentAt = new long[KeptTimes];
        private int numSlices;
        private int have;
        private long sent;
        private long top;
        private long gone; // by the timer, no slice with a number below is under way
        private int quota = AnyNumber; // how many slices can still be sent without news
        private long mainAt;
        private long lastAt;
        private long newsAt;
        private bool held;
        private long heldAt;
        private bool idle = true;

        /// <summary>A scheduler for one sender, which knows nothing of the path.</summary>
        /// <param name="mode">The profile (RPL-14).</param>
        /// <param name="rate">PRO-1: the limit in bits a second with headers, 8,528 to 8 * 10^9; 0 for none, except with Fixed.</param>
        public RatelessScheduler(RecoveryMode mode = RecoveryMode.Adaptive, long rate = 0)
        {
            if (!AdaptiveScheduler.IsRate(mode, rate)) throw new ArgumentOutOfRangeException("rate", "0, or 8,528 to 8 * 10^9 bits a second");
            controller = new Controller(mode, rate);
            deviations = mode == RecoveryMode.Redundant ? 9 : 4;
        }

        /// <summary>RPL-13.</summary>
        public long Deadline
        {
            get
            {
                if (Missing == 0) return Limits.Never;
                return IsWanted ? controller.PaceAt : Timer;
            }
        }

        /// <summary>Whether other packets on the path must not wait behind slices (ROOM-3).</summary>
        public bool Yields
        {
            get { return controller.Yields; }
            set { controller.Yields = value; }
        }

        private int Missing
        {
            get { return numSlices - have; }
        }

        private long UnderWay
        {
            get { return sent - Math.Max(top, gone); }
        }

        /// <summary>RPL-3.</summary>
        private bool IsWanted
        {
            get
            {
                if (Missing == 0 || UnderWay >= controller.Need(Missing, deviations, MostNeed)) return false;
                return quota == AnyNumber ? controller.HasRoom : quota > 0;
            }
        }

        /// <summary>RPL-10.</summary>
        private long Timer
        {
            get
            {
                RoundTrip path = controller.RoundTrip;
                if (held) return Math.Max(lastAt, heldAt) + path.DelayOfProbes(lastAt - heldAt);
                return Math.Max(mainAt + path.BaseDelay, Math.Max(newsAt + path.Margin, controller.ProbeAt));
            }
        }

        /// <summary>ECN-1: routers marked so many datagrams instead of dropping them.</summary>
        public void Marks(int count)
        {
            controller.OnMarks(count);
        }

        /// <summary>RPL-2.</summary>
        public void Start(long now, int numSlices)
        {
            this.numSlices = numSlices;
            have = 0;
            sent = top = gone = 0;
            quota = wasHeld ? 1 : AnyNumber;
            mainAt = lastAt = newsAt = now;
            held = wasHeld = false;
            idle = true;
            controller.OnBegin(now);
        }

        /// <summary>RPL-5.</summary>
        public void News(long now, int have, long top)
        {
            int gained = have - this.have;
            if (top > this.top) Sample(now, have, top);
            long missing = FindLost(now, gained, top);
            if (this.top < gone) controller.OnLate(gained - Math.Max(top - gone, 0)); // SUS-2
            this.have = have;
            this.top = top;
            NoteFlight();
            controller.OnNews(now, gained, missing);
            held = false;
            if (gained == 0 && top - have > MostNeed)
            {
                quota = 0;
                return;
            }
            newsAt = now;
            quota = AnyNumber;
        }

        /// <summary>RPL-12.</summary>
        public void Hold(long now)
        {
            if (!held) heldAt = now;
            held = true;
            gone = sent;
            quota = 0;
            NoteFlight();
        }

        /// <summary>RPL-9.</summary>
        public bool TryNext(long now)
        {
            if (Missing == 0) return false;
            if (!IsWanted && now >= Timer) Expire(now);
            bool wanted = IsWanted;
            bool goes = controller.Goes(now, wanted, sent < numSlices, idle);
            idle = !wanted;
            if (goes) Send(now);
            return goes;
        }

        private void Send(long now)
        {
            sentAt[sent % KeptTimes] = lastAt = now;
            if (quota == AnyNumber) mainAt = now;
            else quota--;
            sent++;
            NoteFlight();
        }

        private void NoteFlight()
        {
            if (Missing == 0) controller.Leave();
            else controller.SetFlight((int)Math.Min(UnderWay, int.MaxValue));
        }

        /// <summary>Step 1 of RPL-5.</summary>
        private void Sample(long now, int have, long top)
        {
            if (top - 1 < sent - KeptTimes) return;
            long r = now - sentAt[(top - 1) % KeptTimes];
            if (have < numSlices || top > gone) controller.OnCleanSample(now, r);
            else if (!controller.RoundTrip.IsMeasured) controller.FindBound(r);
        }

        /// <summary>Step 2 of RPL-5; below 0 if a loss is taken back.</summary>
        private long FindLost(long now, int gained, long top)
        {
            if (held)
            {
                gone = 0;
                NoteFlight();
                wasHeld |= now - heldAt > 2 * controller.RoundTrip.Srtt;
                return 0;
            }
            if (this.top < gone && gone < top) return Math.Max(top - gone - gained, 0);
            return top - this.top - gained;
        }

        /// <summary>RPL-11.</summary>
        private void Expire(long now)
        {
            int givenUp = (int)Math.Min(UnderWay, Probes);
            gone = sent;
            quota = held ? 1 : Probes;
            NoteFlight();
            if (!held) controller.OnTimer(now, givenUp);
        }
    }
}
