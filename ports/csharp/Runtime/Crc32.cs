namespace Chunkwire
{
    /// <summary>The CRC-32 of IEEE 802.3 (FRM-2).</summary>
    internal static class Crc32
    {
        /// <summary>What a sum begins with.</summary>
        public const uint Initial = 0xffffffff;

        private const uint Polynomial = 0xedb88320;

        private static readonly uint[] Table = MakeTable();

        /// <summary>A sum with one byte more.</summary>
        public static uint Add(uint sum, byte value)
        {
            return Table[(sum ^ value) & 0xff] ^ sum >> 8;
        }

        /// <summary>A sum with more bytes.</summary>
        public static uint Add(uint sum, byte[] bytes, int offset, int count)
        {
            for (int i = offset; i < offset + count; i++) sum = Add(sum, bytes[i]);
            return sum;
        }

        /// <summary>The crc of what a sum has seen.</summary>
        public static uint Finish(uint sum)
        {
            return ~sum;
        }

        private static uint[] MakeTable()
        {
            var table = new uint[256];
            for (uint i = 0; i < table.Length; i++)
            {
                uint sum = i;
                for (int bit = 0; bit < 8; bit++) sum = (sum & 1) != 0 ? sum >> 1 ^ Polynomial : sum >> 1;
                table[i] = sum;
            }
            return table;
        }
    }
}
