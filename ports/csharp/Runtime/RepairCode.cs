using System;

namespace Chunkwire
{
    /// <summary>The code of repair slices (REPAIR.md, section 3), and the numbers of transmissions (section 2.3 there).</summary>
    public static class RepairCode
    {
        /// <summary>Ids of a chunk (<c>MAX_IDS</c>).</summary>
        public const int MaxIds = 8192;

        private const uint Seed = 6535; // CODE_SEED

        /// <summary>RPC-2: the exponent of a source slice in a repair slice, 0 to 15.</summary>
        /// <param name="j">The repair slice, 0 to 8,190.</param>
        /// <param name="i">The source slice, 0 to 255.</param>
        public static int Exponent(int j, int i)
        {
            return (int)(Mix(unchecked((uint)j * 32 + (uint)i / 8 + Seed)) >> 4 * (i % 8) & 15);
        }

        /// <summary>RPS-2: the bytes of a slice.</summary>
        /// <param name="numSlices">The slices of the chunk.</param>
        /// <param name="lastBytes">The bytes of its last source slice.</param>
        /// <param name="id">The id of the slice.</param>
        public static int SliceBytes(int numSlices, int lastBytes, int id)
        {
            return numSlices == 1 || id == numSlices - 1 ? lastBytes : Limits.SliceSize;
        }

        /// <summary>RPN-2: the id of a transmission.</summary>
        internal static int IdOf(int numSlices, long number)
        {
            return (int)(number < MaxIds ? number : numSlices + (number - numSlices) % (MaxIds - numSlices));
        }

        /// <summary>RPN-3: the number of an id that arrives at a receiver.</summary>
        internal static long NumberOfArrival(int numSlices, long top, int id)
        {
            if (id < numSlices) return id;
            int ids = MaxIds - numSlices;
            long near = Math.Max(top, numSlices);
            int ahead = (id - IdOf(numSlices, near) + ids) % ids;
            long number = ahead < ids / 2 ? near + ahead : near + ahead - ids;
            return number < numSlices ? number + ids : number;
        }

        /// <summary>RPN-5: the number of the field <c>top</c> at a sender of so many slices, or -1.</summary>
        internal static long NumberOfField(int numSlices, long sent, int field)
        {
            if (field > sent) return -1;
            int ids = MaxIds - numSlices;
            return field < numSlices ? field : field + (sent - field) / ids * ids;
        }

        /// <summary>RPC-1.</summary>
        private static uint Mix(uint h)
        {
            unchecked
            {
                h ^= h >> 16;
                h *= 0x85ebca6b;
                h ^= h >> 13;
                h *= 0xc2b2ae35;
                return h ^ h >> 16;
            }
        }
    }

    /// <summary>GF(2^8) with x^8 = x^4 + x^3 + x^2 + 1 (RPC-3).</summary>
    internal static class Field
    {
        private const int Size = 256;
        private const int Polynomial = 0x1d; // and x^8

        private static readonly byte[] Products = MakeProducts();

        /// <summary>Times x.</summary>
        public static byte Double(byte v)
        {
            return (byte)(v << 1 ^ (v < 128 ? 0 : Polynomial));
        }

        /// <summary>A power of x, 0 to 15.</summary>
        public static byte Power(int exponent)
        {
            byte v = 1;
            for (int e = 0; e < exponent; e++) v = Double(v);
            return v;
        }

        /// <summary>The inverse of a value other than 0: its power of 254.</summary>
        public static byte Inverse(byte a)
        {
            byte v = a;
            for (int i = 0; i < 6; i++) v = Times(Times(v, v), a);
            return Times(v, v);
        }

        /// <summary>Multiplies bytes of an array.</summary>
        public static void Scale(byte[] bytes, int at, int count, byte factor)
        {
            for (int i = at; i < at + count; i++) bytes[i] = Times(factor, bytes[i]);
        }

        /// <summary>Adds a factor times some bytes of an array to others of it.</summary>
        public static void AddTimes(byte[] bytes, int to, int from, int count, byte factor)
        {
            byte[] products = Products;
            int row = factor * Size;
            for (int i = 0; i < count; i++) bytes[to + i] ^= products[row + bytes[from + i]];
        }

        private static byte Times(byte a, byte b)
        {
            return Products[a * Size + b];
        }

        private static byte[] MakeProducts()
        {
            var products = new byte[Size * Size];
            for (int a = 0; a < Size; a++)
            {
                byte part = (byte)a;
                for (int bit = 1; bit < Size; bit *= 2)
                {
                    for (int below = 0; below < bit; below++) products[a * Size + bit + below] = (byte)(products[a * Size + below] ^ part);
                    part = Double(part);
                }
            }
            return products;
        }
    }

    /// <summary>Makes repair slices, one after the other, in memory of its own (RPC-4).</summary>
    internal sealed class RepairSum
    {
        private const int Left = -1;

        private readonly int[] exponents = new int[Limits.MaxSlices];

        /// <summary>The sum that was made last.</summary>
        public byte[] Block { get; } = new byte[Limits.SliceSize];

        /// <summary>Sums up slices of a chunk, as section 3.2 does, with one sum for all exponents.</summary>
        /// <param name="chunk">The array in which the chunk lies.</param>
        /// <param name="offset">Where it begins.</param>
        /// <param name="count">Its bytes; what its last slice has less than others counts as zeros.</param>
        /// <param name="j">Which repair slice.</param>
        /// <param name="slices">The source slices that are in the sum.</param>
        public void Make(byte[] chunk, int offset, int count, int j, in SliceSet slices)
        {
            int numSlices = Limits.SlicesIn(count);
            for (int i = 0; i < numSlices; i++) exponents[i] = slices.Contains(i) ? RepairCode.Exponent(j, i) : Left;
            Array.Clear(Block, 0, Block.Length);
            for (int e = 15; e >= 0; e--)
            {
                for (int t = 0; t < Block.Length; t++) Block[t] = Field.Double(Block[t]);
                for (int i = 0; i < numSlices; i++)
                {
                    if (exponents[i] == e) Add(chunk, offset + Limits.SliceSize * i, Math.Min(Limits.SliceSize, count - Limits.SliceSize * i));
                }
            }
        }

        private void Add(byte[] bytes, int at, int count)
        {
            byte[] block = Block;
            for (int t = 0; t < count; t++) block[t] ^= bytes[at + t];
        }
    }
}
