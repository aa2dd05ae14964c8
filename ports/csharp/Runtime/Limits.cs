using System;

namespace Chunkwire
{
    /// <summary>Constants of section 2.3. Sizes are in bytes, times in microseconds.</summary>
    public static class Limits
    {
        /// <summary>Data of every slice but the last (<c>SLICE_SIZE</c>).</summary>
        public const int SliceSize = 1024;

        /// <summary>The most slices of a chunk (<c>MAX_SLICES</c>).</summary>
        public const int MaxSlices = 256;

        /// <summary>The most bytes of a chunk (<c>MAX_CHUNK</c>).</summary>
        public const int MaxChunk = SliceSize * MaxSlices;

        /// <summary>The most bytes of a datagram (<c>MAX_DATAGRAM</c>).</summary>
        public const int MaxDatagram = 1038;

        /// <summary>What IP version 4 and UDP add to a datagram (<c>HEADER</c>).</summary>
        public const int Header = 28;

        /// <summary><c>GIVE_UP</c> unless configured.</summary>
        public const long DefaultGiveUp = 10 * Second;

        /// <summary>The longest <c>GIVE_UP</c>.</summary>
        public const long MaxGiveUp = 1L << 61;

        /// <summary>Later than every time: there is nothing to do (TIM-3).</summary>
        public const long Never = long.MaxValue;

        /// <summary>A millisecond.</summary>
        public const long Millisecond = 1000;

        /// <summary>A second.</summary>
        public const long Second = 1000 * Millisecond;

        internal const int ChunkIds = 65536;

        /// <summary>LIM-2: the slices of a chunk.</summary>
        /// <param name="size">The chunk's bytes.</param>
        public static int SlicesIn(int size)
        {
            return (size + SliceSize - 1) / SliceSize;
        }

        internal static bool IsWithin(long value, long low, long high)
        {
            return value >= low && value <= high;
        }

        /// <summary>CID-2.</summary>
        internal static int NextChunkId(int id)
        {
            return (id + 1) % ChunkIds;
        }

        internal static int PreviousChunkId(int id)
        {
            return (id + ChunkIds - 1) % ChunkIds;
        }

        /// <summary>Refuses parameters that SND-21 does not allow.</summary>
        internal static void CheckParameters(int firstChunkId, long giveUp)
        {
            if (!IsWithin(firstChunkId, 0, ChunkIds - 1)) throw new ArgumentOutOfRangeException("firstChunkId", "0 to 65,535");
            if (!IsWithin(giveUp, 1, MaxGiveUp)) throw new ArgumentOutOfRangeException("giveUp", "1 us to 2^61 us");
        }
    }
}
