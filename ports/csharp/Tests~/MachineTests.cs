using System;
using System.Collections.Generic;

namespace Chunkwire.Tests
{
    /// <summary>What the two machines say to each other, a datagram at a time.</summary>
    internal static class MachineTests
    {
        public static void AChunkArrives()
        {
            var ends = new Ends();
            byte[] chunk = Ends.Chunk(3000);
            ends.Submit(chunk);
            List<byte[]> slices = ends.Slices(3);
            Check.Equal("R6", ends.Deliver(slices.ToArray()), "the third slice");
            Equal(chunk, ends.Read());
            Check.Equal("S10", ends.Deliver(ends.Acks().ToArray()), "its ack");
            Check.Equal(SenderState.Idle, ends.Sender.State, "the sender");
            Check.Equal(1, ends.Sender.ChunkId, "the next id");
        }

        /// <summary>RCV-13: ports written by hand drop a duplicate without an ack, and the sender resends it without end.</summary>
        public static void ASliceWhoseAckWasLostIsAckedAgain()
        {
            var ends = new Ends();
            ends.Submit(Ends.Chunk(2048));
            byte[] first = ends.Slices(2)[0];
            ends.Deliver(first);
            Check.Equal(1, ends.DueAcks().Count, "acks"); // lost
            ends.Now += Limits.Second;
            Check.Equal("R7", ends.Deliver(first), "the slice again");
            Check.Equal("S9", ends.Deliver(ends.DueAcks().ToArray()), "its ack");
            Check.That(ends.Sender.Acked.Contains(0), "slice 0 is not acked");
        }

        /// <summary>RCV-13, R3, R14: so do ports that are done with a chunk.</summary>
        public static void AChunkWhoseLastAckWasLostIsAckedAgain()
        {
            foreach (bool read in new[] { false, true })
            {
                var ends = new Ends();
                ends.Submit(Ends.Chunk(2048));
                byte[][] slices = ends.Slices(2).ToArray();
                ends.Deliver(slices);
                ends.Acks(); // lost
                if (read) ends.Read();
                ends.Now += Limits.Second;
                Check.Equal(read ? "R3" : "R14", ends.Deliver(slices[1]), "the last slice again");
                Check.Equal("S10", ends.Deliver(ends.DueAcks().ToArray()), "its ack");
            }
        }

        /// <summary>8.5: a flood of duplicates draws one ack in 2 ms.</summary>
        public static void AFloodOfDuplicatesDrawsFewAcks()
        {
            var ends = new Ends();
            ends.Submit(Ends.Chunk(2048));
            byte[] first = ends.Slices(2)[0];
            int acks = 0;
            for (long until = ends.Now + 100 * Limits.Millisecond; ends.Now < until; ends.Now += 10)
            {
                ends.Deliver(first);
                acks += ends.Acks().Count;
            }
            Check.Equal(50, acks, "acks in 100 ms");
        }

        /// <summary>RCV-14, SND-8: a chunk that nobody reads holds the next one, however long, and nobody gives up.</summary>
        public static void AReaderThatTakesAMinuteHoldsTheNextChunk()
        {
            var ends = new Ends();
            byte[] first = Ends.Chunk(500), second = Ends.Chunk(5000, 2);
            ends.Submit(first);
            ends.Deliver(ends.Slices().ToArray());
            ends.Deliver(ends.Acks().ToArray());
            ends.Submit(second);
            int sent = Pass(ends, ends.Now + 60 * Limits.Second);
            Check.That(sent < 400, sent + " slices to a peer that cannot take them");
            Equal(first, ends.Read());
            Pass(ends, ends.Now + Limits.Second);
            Equal(second, ends.Read());
            Check.Equal(SenderState.Idle, ends.Sender.State, "the sender");
        }

        /// <summary>CID-2, RCV-3: 65535 is followed by 0.</summary>
        public static void IdsBeginAnewBehind65535()
        {
            var ends = new Ends(65535);
            foreach (int next in new[] { 0, 1 })
            {
                byte[] chunk = Ends.Chunk(100, next);
                ends.Submit(chunk);
                byte[][] slices = ends.Slices().ToArray();
                ends.Deliver(slices);
                Equal(chunk, ends.Read());
                Check.Equal("S10", ends.Deliver(ends.Acks().ToArray()), "its ack");
                Check.Equal(next, ends.Sender.ChunkId, "the next id");
                Check.Equal("R3", ends.Deliver(slices), "the slice again");
                ends.DueAcks();
            }
        }

        /// <summary>A chunk of 256 slices: a byte does not hold that number.</summary>
        public static void TheLargestChunkArrivesBackward()
        {
            var ends = new Ends();
            byte[] chunk = Ends.Chunk(Limits.MaxChunk);
            ends.Submit(chunk);
            List<byte[]> slices = ends.Slices(256);
            slices.Reverse();
            Check.Equal("R6", ends.Deliver(slices.ToArray()), "slice 0");
            Equal(chunk, ends.Read());
            Check.Equal("S10", ends.Deliver(ends.Acks().ToArray()), "its ack");
        }

        /// <summary>SND-1: a chunk that is refused changes nothing.</summary>
        public static void WhatASenderRefuses()
        {
            var ends = new Ends(giveUp: Limits.Second);
            var chunk = new byte[Limits.MaxChunk + 1];
            Check.That(!ends.Sender.TrySubmit(0, chunk, 0, 0), "0 bytes");
            Check.Equal(SenderRow.S2, ends.Sender.Row, "0 bytes");
            Check.That(!ends.Sender.TrySubmit(0, chunk, 0, chunk.Length), "262,145 bytes");
            Check.Equal(SenderRow.S2, ends.Sender.Row, "262,145 bytes");
            ends.Submit(Ends.Chunk(10));
            Check.That(!ends.Sender.TrySubmit(0, chunk, 0, 1), "a second chunk");
            Check.Equal(SenderRow.S3, ends.Sender.Row, "a second chunk");
            ends.Now = Limits.Second;
            Check.Equal(0, ends.Slices().Count, "slices");
            Check.Equal(SenderRow.S15, ends.Sender.Row, "a second without an answer");
            Check.Equal(Limits.Never, ends.Sender.Deadline, "the deadline");
            Check.That(!ends.Sender.TrySubmit(0, chunk, 0, 1), "after it gave up");
            Check.Equal(SenderRow.S4, ends.Sender.Row, "after it gave up");
        }

        /// <summary>A part of an array is a chunk.</summary>
        public static void AChunkThatLiesInALargerArray()
        {
            var ends = new Ends();
            byte[] array = Ends.Chunk(5000);
            Check.That(ends.Sender.TrySubmit(0, array, 700, 3000), "it was refused");
            ends.Deliver(ends.Slices(3).ToArray());
            var part = new byte[3000];
            Buffer.BlockCopy(array, 700, part, 0, 3000);
            Equal(part, ends.Read());
        }

        /// <summary>RCV-9: half a chunk, and then nothing.</summary>
        public static void AReceiverGivesUp()
        {
            var ends = new Ends();
            ends.Submit(Ends.Chunk(2048));
            ends.Deliver(ends.Slices(2)[0]);
            ends.DueAcks();
            ends.Now = ends.Receiver.Deadline;
            Check.Equal(0, ends.Acks().Count, "acks");
            Check.Equal(ReceiverRow.R23, ends.Receiver.Row, "10 s without a slice");
            Check.Equal(Limits.Never, ends.Receiver.Deadline, "the deadline");
            Check.That(!ends.Receiver.TryRead(ends.Now, out ArraySegment<byte> chunk), "half a chunk was delivered");
        }

        /// <summary>RCV-7: slices of another number of slices are not stored before the first ones are old.</summary>
        public static void SlicesThatConflict()
        {
            var ends = new Ends();
            ends.Submit(Ends.Chunk(2048));
            byte[][] slices = ends.Slices(2).ToArray();
            var forged = new Slice(0, 0, 3, new byte[1024], 0, 1024);
            Check.Equal(ReceiverRow.R2, ends.Receiver.Take(ends.Now, forged), "a forged slice");
            Check.Equal("R8", ends.Deliver(slices), "the genuine ones");
            Check.Equal(2L, ends.Receiver.Conflicts, "conflicts");
            ends.Now += Limits.DefaultGiveUp / 2;
            Check.Equal("R6", ends.Deliver(slices), "the genuine ones, later");
            Equal(Ends.Chunk(2048), ends.Read());
        }

        /// <summary>TIM-1: a clock that goes backward stands still.</summary>
        public static void AClockThatGoesBackward()
        {
            var ends = new Ends { Now = 5 * Limits.Second };
            ends.Submit(Ends.Chunk(100));
            ends.Now = 0;
            Check.Equal(1, ends.Slices().Count, "slices");
            Check.Equal(5 * Limits.Second + 250 * Limits.Millisecond, ends.Sender.Deadline, "the deadline");
        }

        public static void ParametersThatTheSpecificationDoesNotAllow()
        {
            var scheduler = new BaseScheduler(Profile.AllAtOnce);
            Check.Throws<ArgumentOutOfRangeException>(() => new Sender(scheduler, -1), "id -1");
            Check.Throws<ArgumentOutOfRangeException>(() => new Sender(scheduler, 65536), "id 65536");
            Check.Throws<ArgumentOutOfRangeException>(() => new Receiver(0, 0), "no time");
            Check.Throws<ArgumentOutOfRangeException>(() => new Receiver(0, Limits.MaxGiveUp + 1), "too long a time");
            Check.Throws<ArgumentOutOfRangeException>(() => Profile.Fixed(1065), "too low a rate");
            Check.Throws<ArgumentOutOfRangeException>(() => Profile.Article(0), "no rate");
            Check.Throws<ArgumentException>(() => new BaseScheduler(default(Profile)), "no profile");
        }

        /// <summary>The constants of appendix G.5, which the vectors give as figures.</summary>
        public static void TheProfilesOfTheSpecification()
        {
            Profile burst = Profile.AllAtOnce, slow = Profile.Fixed(125000), fast = Profile.Article(1000000);
            Check.Equal(125000, burst.Rate, "rate");
            Check.Equal(272896, burst.Cap, "cap");
            Check.Equal(272896, burst.Burst, "burst");
            Check.That(burst.AcksPay, "acks pay");
            Check.Equal(85L, burst.Spacing, "spacing");
            Check.Equal(0L, burst.ResendDelay, "resend delay");
            Check.Equal(17056, slow.Cap, "cap of a slow path");
            Check.Equal(20000, fast.Cap, "cap of a fast path");
            Check.Equal(0L, slow.ResendDelay, "resend delay");
            Check.Equal(100 * Limits.Millisecond, fast.ResendDelay, "resend delay of the article");
            Check.That(!slow.AcksPay && !fast.AcksPay, "acks pay");
        }

        /// <summary>Polls both ends until a time, over a path of 20 ms each way, and returns how many slices went out.</summary>
        private static int Pass(Ends ends, long until)
        {
            const long way = 20 * Limits.Millisecond;
            var path = new Queue<KeyValuePair<long, byte[]>>();
            int sent = 0;
            while (ends.Now < until)
            {
                while (path.Count > 0 && path.Peek().Key <= ends.Now) ends.Deliver(path.Dequeue().Value);
                List<byte[]> slices = ends.Slices();
                sent += slices.Count;
                slices.AddRange(ends.Acks());
                foreach (byte[] datagram in slices) path.Enqueue(new KeyValuePair<long, byte[]>(ends.Now + way, datagram));
                long next = Math.Min(ends.Sender.Deadline, ends.Receiver.Deadline);
                if (path.Count > 0) next = Math.Min(next, path.Peek().Key);
                ends.Now = Math.Min(until, next);
            }
            return sent;
        }

        private static void Equal(byte[] want, byte[] got)
        {
            Check.Equal(want.Length, got.Length, "bytes of the chunk");
            for (int i = 0; i < want.Length; i++) Check.Equal(want[i], got[i], "byte " + i + " of the chunk");
        }
    }
}
