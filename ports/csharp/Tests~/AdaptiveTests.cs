using System;
using System.Collections.Generic;

namespace Chunkwire.Tests
{
    /// <summary>The recommended scheduler over paths in virtual time. What it sends when is what the vectors compare.</summary>
    internal static class AdaptiveTests
    {
        private const long Way = 25 * Limits.Millisecond;

        /// <summary>Section 14: which limits there are.</summary>
        public static void LimitsOfProfiles()
        {
            Check.That(AdaptiveScheduler.IsRate(RecoveryMode.Adaptive, 0), "no limit");
            Check.That(!AdaptiveScheduler.IsRate(RecoveryMode.Fixed, 0), "fixed, without a limit");
            Check.That(AdaptiveScheduler.IsRate(RecoveryMode.Fixed, 8528), "the least");
            Check.That(!AdaptiveScheduler.IsRate(RecoveryMode.Adaptive, 8527), "too little");
            Check.That(AdaptiveScheduler.IsRate(RecoveryMode.Burst, 8000000000), "the most");
            Check.That(!AdaptiveScheduler.IsRate(RecoveryMode.Redundant, 8000000001), "too much");
            Check.That(!AdaptiveScheduler.IsRate(RecoveryMode.Adaptive, -1), "less than nothing");
            Check.Throws<ArgumentOutOfRangeException>(() => new AdaptiveScheduler(RecoveryMode.Fixed), "fixed, without a limit");
        }

        /// <summary>ROOM-4: not more than FIRST_LIMIT is sent before an ack, where the base algorithm sends all.</summary>
        public static void TheFirstFlightIsLimited()
        {
            Check.Equal(16, Sent(new AdaptiveScheduler(), 249 * Limits.Millisecond), "slices before an ack");
            Check.Equal(256, Sent(new BaseScheduler(Profile.AllAtOnce), 249 * Limits.Millisecond), "slices of the base algorithm");
        }

        /// <summary>PTO-3: into silence go pairs of probes at longer and longer intervals.</summary>
        public static void SilenceIsAnsweredByFewProbes()
        {
            int sent = Sent(new AdaptiveScheduler(), 10 * Limits.Second - 1);
            Check.That(sent > 25 && sent < 45, sent + " slices in 10 s without an answer");
        }

        /// <summary>A slow link: the base algorithm overflows its queue, and this one hardly does.</summary>
        public static void ASlowLinkIsNotFlooded()
        {
            int adaptive = SlicesOver(1000, new AdaptiveScheduler());
            int burst = SlicesOver(1000, new BaseScheduler(Profile.AllAtOnce));
            Check.That(adaptive < 270, adaptive + " slices for 256");
            Check.That(3 * adaptive < 2 * burst, adaptive + " slices, and " + burst + " of the base algorithm");
        }

        /// <summary>How many slices of a large chunk go out before a time, when nobody answers.</summary>
        private static int Sent(IScheduler scheduler, long until)
        {
            var sender = new Sender(scheduler);
            byte[] chunk = Ends.Chunk(Limits.MaxChunk);
            Check.That(sender.TrySubmit(0, chunk, 0, chunk.Length), "the chunk was refused");
            int sent = 0;
            for (long now = 0; now <= until; now = sender.Deadline)
            {
                while (sender.TryPoll(now, out Slice slice)) sent++;
            }
            return sent;
        }

        /// <summary>Slices that a chunk takes over a link of 25 ms that passes so many bytes each 8 ms, with a queue of 500 ms.</summary>
        private static int SlicesOver(int bytes, IScheduler scheduler)
        {
            var sender = new Sender(scheduler);
            var receiver = new Receiver();
            byte[] chunk = Ends.Chunk(Limits.MaxChunk);
            var slices = new Queue<KeyValuePair<long, Slice>>();
            var acks = new Queue<KeyValuePair<long, Ack>>();
            Check.That(sender.TrySubmit(0, chunk, 0, chunk.Length), "the chunk was refused");
            int sent = 0;
            long free = 0;
            for (long now = 0; sender.State == SenderState.Sending;)
            {
                while (slices.Count > 0 && slices.Peek().Key <= now) receiver.Take(now, slices.Dequeue().Value);
                while (acks.Count > 0 && acks.Peek().Key <= now) sender.Take(now, acks.Dequeue().Value);
                while (sender.TryPoll(now, out Slice slice))
                {
                    sent++;
                    if (free > now + 500 * Limits.Millisecond) continue; // the queue is full
                    free = Math.Max(free, now) + (slice.Count + 41) * 8 * Limits.Millisecond / bytes;
                    slices.Enqueue(new KeyValuePair<long, Slice>(free + Way, slice));
                }
                while (receiver.TryPoll(now, out Ack ack)) acks.Enqueue(new KeyValuePair<long, Ack>(now + Way, ack));
                now = Math.Min(sender.Deadline, receiver.Deadline);
                if (slices.Count > 0) now = Math.Min(now, slices.Peek().Key);
                if (acks.Count > 0) now = Math.Min(now, acks.Peek().Key);
            }
            Check.Equal(SenderState.Idle, sender.State, "the sender");
            return sent;
        }
    }
}
