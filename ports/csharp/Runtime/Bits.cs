using System;

namespace Chunkwire
{
    /// <summary>Writes a stream of bits into an array (section 3).</summary>
    internal struct BitWriter
    {
        private readonly byte[] bytes;
        private readonly int start;
        private int position;

        /// <summary>A stream that begins at a byte of an array, which has room for all that is written.</summary>
        public BitWriter(byte[] bytes, int start)
        {
            this.bytes = bytes;
            this.start = start;
            position = 0;
        }

        /// <summary>The bytes that the stream has so far, the last one filled up (BIT-7).</summary>
        public int Length
        {
            get { return (position + 7) / 8; }
        }

        /// <summary>BIT-1, BIT-2: the least significant first, up to the end of a byte at a time.</summary>
        public void Bits(uint value, int count)
        {
            while (count > 0)
            {
                int shift = position % 8;
                int taken = Math.Min(8 - shift, count);
                int at = start + position / 8;
                int low = (int)(value & (1u << taken) - 1);
                bytes[at] = (byte)((shift == 0 ? 0 : bytes[at]) | low << shift);
                value >>= taken;
                count -= taken;
                position += taken;
            }
        }

        /// <summary>BIT-5; the bits are 0 since their byte was begun.</summary>
        public void Align()
        {
            position = 8 * Length;
        }

        /// <summary>BIT-6.</summary>
        public void Bytes(byte[] source, int offset, int count)
        {
            Align();
            Buffer.BlockCopy(source, offset, bytes, start + position / 8, count);
            position += 8 * count;
        }
    }

    /// <summary>
    /// Reads a stream of bits from a part of an array, and nothing outside it (LAW-3).
    /// Each method returns false at the first check that fails, which stands in <see cref="Error"/> then.
    /// </summary>
    internal struct BitReader
    {
        private readonly byte[] bytes;
        private readonly int start;
        private readonly int end;

        public BitReader(byte[] bytes, int start, int count)
        {
            this.bytes = bytes;
            this.start = start;
            end = 8 * count;
            Position = 0;
            Error = default(DecodeError);
        }

        /// <summary>The next bit, from the start of the stream.</summary>
        public int Position { get; private set; }

        public DecodeError Error { get; private set; }

        /// <summary>Refuses unless a check holds.</summary>
        public bool Check(bool ok, DecodeCode code, int place)
        {
            if (!ok) Error = new DecodeError(code, place);
            return ok;
        }

        /// <summary>BIT-2, if so many bits are left.</summary>
        public bool Bits(int count, out uint value)
        {
            value = 0;
            if (!Need(count)) return false;
            for (int done = 0; done < count;)
            {
                int shift = Position % 8;
                int taken = Math.Min(8 - shift, count - done);
                value |= (uint)(bytes[start + Position / 8] >> shift & (1 << taken) - 1) << done;
                done += taken;
                Position += taken;
            }
            return true;
        }

        /// <summary>BIT-3, with a range of 2^count numbers.</summary>
        public bool Int(int count, int low, out int value)
        {
            bool ok = Bits(count, out uint bits);
            value = low + (int)bits;
            return ok;
        }

        /// <summary>BIT-5, DEC-10.</summary>
        public bool Padding()
        {
            int place = Position;
            return Bits((8 - Position % 8) % 8, out uint padding) && Check(padding == 0, DecodeCode.NonzeroPadding, place);
        }

        /// <summary>Passes bytes and returns where in the array they lie.</summary>
        public bool Bytes(int count, out int offset)
        {
            offset = start + Position / 8;
            if (!Need(8 * count)) return false;
            Position += 8 * count;
            return true;
        }

        /// <summary>DEC-14.</summary>
        public bool End()
        {
            return Check(Position == end, DecodeCode.TrailingData, Position);
        }

        /// <summary>Refuses unless so many bits are left.</summary>
        public bool Need(int count)
        {
            return Check(end - Position >= count, DecodeCode.Truncated, Position);
        }
    }
}
