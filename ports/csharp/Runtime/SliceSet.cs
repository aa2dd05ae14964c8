using System;

namespace Chunkwire
{
    /// <summary>A set of slice ids, 0 to 255. It is a value of 32 bytes and lies on the stack.</summary>
    public readonly struct SliceSet : IEquatable<SliceSet>
    {
        private const int WordBits = 64;

        private readonly ulong word0, word1, word2, word3;

        private SliceSet(ulong word0, ulong word1, ulong word2, ulong word3)
        {
            this.word0 = word0;
            this.word1 = word1;
            this.word2 = word2;
            this.word3 = word3;
        }

        /// <summary>The first slices of a chunk.</summary>
        /// <param name="count">How many, 0 to 256.</param>
        public static SliceSet First(int count)
        {
            if (!Limits.IsWithin(count, 0, Limits.MaxSlices)) throw new ArgumentOutOfRangeException("count");
            return new SliceSet(Ones(count), Ones(count - WordBits), Ones(count - 2 * WordBits), Ones(count - 3 * WordBits));
        }

        /// <summary>Whether the set has no slice.</summary>
        public bool IsEmpty
        {
            get { return (word0 | word1 | word2 | word3) == 0; }
        }

        /// <summary>How many slices the set has.</summary>
        public int Count
        {
            get { return Bits(word0) + Bits(word1) + Bits(word2) + Bits(word3); }
        }

        /// <summary>Whether the set has a slice; it has none outside 0 to 255.</summary>
        public bool Contains(int id)
        {
            return Limits.IsWithin(id, 0, Limits.MaxSlices - 1) && (Word(id / WordBits) >> (id % WordBits) & 1) != 0;
        }

        /// <summary>The set with a slice.</summary>
        public SliceSet With(int id)
        {
            return this | Only(id);
        }

        /// <summary>The set without a slice.</summary>
        public SliceSet Without(int id)
        {
            return Except(Only(id));
        }

        /// <summary>The slices of this set that are not in the other.</summary>
        public SliceSet Except(in SliceSet other)
        {
            return new SliceSet(word0 & ~other.word0, word1 & ~other.word1, word2 & ~other.word2, word3 & ~other.word3);
        }

        /// <summary>The least slice that is not below an id, or -1.</summary>
        /// <param name="id">0 to 256.</param>
        public int NextFrom(int id)
        {
            for (int i = id / WordBits; i < Limits.MaxSlices / WordBits; i++)
            {
                ulong word = Word(i);
                if (i == id / WordBits) word &= ~Ones(id % WordBits);
                if (word != 0) return i * WordBits + Bits((word & (~word + 1)) - 1);
            }
            return -1;
        }

        /// <summary>The largest slice below an id, or -1.</summary>
        /// <param name="id">0 to 256.</param>
        public int LastBelow(int id)
        {
            int k = id - 1;
            while (k >= 0 && !Contains(k)) k--;
            return k;
        }

        /// <summary>Slices that are in one of the sets.</summary>
        public static SliceSet operator |(in SliceSet a, in SliceSet b)
        {
            return new SliceSet(a.word0 | b.word0, a.word1 | b.word1, a.word2 | b.word2, a.word3 | b.word3);
        }

        /// <summary>Slices that are in both sets.</summary>
        public static SliceSet operator &(in SliceSet a, in SliceSet b)
        {
            return new SliceSet(a.word0 & b.word0, a.word1 & b.word1, a.word2 & b.word2, a.word3 & b.word3);
        }

        /// <summary>Whether both have the same slices.</summary>
        public bool Equals(SliceSet other)
        {
            return word0 == other.word0 && word1 == other.word1 && word2 == other.word2 && word3 == other.word3;
        }

        /// <summary>Whether it is a set with the same slices.</summary>
        public override bool Equals(object other)
        {
            return other is SliceSet && Equals((SliceSet)other);
        }

        /// <summary>A hash of the slices.</summary>
        public override int GetHashCode()
        {
            return ((word0 * 31 + word1) * 31 + word2).GetHashCode() * 31 + word3.GetHashCode();
        }

        private static SliceSet Only(int id)
        {
            if (!Limits.IsWithin(id, 0, Limits.MaxSlices - 1)) throw new ArgumentOutOfRangeException("id");
            ulong bit = 1UL << (id % WordBits);
            switch (id / WordBits)
            {
                case 0: return new SliceSet(bit, 0, 0, 0);
                case 1: return new SliceSet(0, bit, 0, 0);
                case 2: return new SliceSet(0, 0, bit, 0);
                default: return new SliceSet(0, 0, 0, bit);
            }
        }

        private ulong Word(int i)
        {
            switch (i)
            {
                case 0: return word0;
                case 1: return word1;
                case 2: return word2;
                default: return word3;
            }
        }

        /// <summary>A word with so many bits set, from the least significant on.</summary>
        private static ulong Ones(int count)
        {
            if (count <= 0) return 0;
            return count >= WordBits ? ulong.MaxValue : (1UL << count) - 1;
        }

        /// <summary>How many bits of a word are set.</summary>
        private static int Bits(ulong word)
        {
            word -= word >> 1 & 0x5555555555555555;
            word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
            word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
            return (int)(word * 0x0101010101010101 >> 56);
        }
    }
}
