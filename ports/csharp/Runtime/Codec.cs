using System;

namespace Chunkwire
{
    /// <summary>What a decoder refuses (section 6.3).</summary>
    public enum DecodeCode
    {
        /// <summary>Nothing is wrong.</summary>
        None,

        /// <summary><c>truncated</c>: the datagram ends inside a field.</summary>
        Truncated,

        /// <summary><c>crc_mismatch</c>: the crc does not match the bytes and the protocol id.</summary>
        CrcMismatch,

        /// <summary><c>slice_id_out_of_range</c>: the slice's id is not below the number of slices.</summary>
        SliceIdOutOfRange,

        /// <summary><c>nonzero_padding</c>: a padding bit is set.</summary>
        NonzeroPadding,

        /// <summary><c>bad_end_check</c>: the end check is another number.</summary>
        BadEndCheck,

        /// <summary><c>trailing_data</c>: bytes follow the packet, or the datagram is too long.</summary>
        TrailingData,

        /// <summary><c>have_out_of_range</c>: an ack of repair slices has more than the chunk (RPD-4).</summary>
        HaveOutOfRange,
    }

    /// <summary>The first check that fails, and where (DEC-15).</summary>
    public readonly struct DecodeError
    {
        /// <summary>Which check it is.</summary>
        public readonly DecodeCode Code;

        /// <summary>Where the field begins that the check names, in bits from the start.</summary>
        public readonly int Place;

        internal DecodeError(DecodeCode code, int place)
        {
            Code = code;
            Place = place;
        }
    }

    /// <summary>
    /// Packets to bytes and back (sections 4 to 6): bodies, and datagrams, which are bodies in a frame.
    /// Nothing is allocated and nothing a peer sends makes a method throw.
    /// </summary>
    public static class Codec
    {
        private const int CrcSize = 4;
        private const uint EndCheck = 0x9908ace2; // FRM-6

        /// <summary>SLC-1: the body of a slice.</summary>
        /// <param name="slice">The slice.</param>
        /// <param name="buffer">Where the body goes; it needs room for <see cref="Limits.MaxDatagram"/> bytes.</param>
        /// <param name="offset">Where in the buffer the body begins.</param>
        /// <param name="count">The body's bytes, 0 if there is none.</param>
        /// <returns>False if the slice cannot be represented, <c>invalid_field</c> (ENC-7).</returns>
        public static bool TryEncodeBody(in Slice slice, byte[] buffer, int offset, out int count)
        {
            CheckRoom(buffer, offset);
            count = 0;
            if (!slice.IsValid) return false;
            var writer = new BitWriter(buffer, offset);
            Write(ref writer, slice);
            count = writer.Length;
            return true;
        }

        /// <summary>ACK-1: the body of an ack.</summary>
        /// <param name="ack">The ack.</param>
        /// <param name="buffer">Where the body goes; it needs room for <see cref="Limits.MaxDatagram"/> bytes.</param>
        /// <param name="offset">Where in the buffer the body begins.</param>
        /// <param name="count">The body's bytes, 0 if there is none.</param>
        /// <returns>False if the ack cannot be represented, <c>invalid_field</c> (ENC-7).</returns>
        public static bool TryEncodeBody(in Ack ack, byte[] buffer, int offset, out int count)
        {
            CheckRoom(buffer, offset);
            count = 0;
            if (!ack.IsValid) return false;
            var writer = new BitWriter(buffer, offset);
            Write(ref writer, ack);
            count = writer.Length;
            return true;
        }

        /// <summary>FRM-1: the datagram of a slice.</summary>
        /// <param name="protocolId">The number that both ends share (FRM-5).</param>
        /// <param name="slice">The slice.</param>
        /// <param name="buffer">Where the datagram goes; it needs room for <see cref="Limits.MaxDatagram"/> bytes.</param>
        /// <param name="offset">Where in the buffer the datagram begins.</param>
        /// <param name="count">The datagram's bytes, 0 if there is none.</param>
        /// <returns>False if the slice cannot be represented, <c>invalid_field</c> (ENC-7).</returns>
        public static bool TryEncode(uint protocolId, in Slice slice, byte[] buffer, int offset, out int count)
        {
            CheckRoom(buffer, offset);
            count = 0;
            if (!slice.IsValid) return false;
            BitWriter writer = Begin(buffer, offset, PacketType.Slice);
            Write(ref writer, slice);
            count = Finish(ref writer, protocolId, buffer, offset);
            return true;
        }

        /// <summary>FRM-1: the datagram of an ack.</summary>
        /// <param name="protocolId">The number that both ends share (FRM-5).</param>
        /// <param name="ack">The ack.</param>
        /// <param name="buffer">Where the datagram goes; it needs room for <see cref="Limits.MaxDatagram"/> bytes.</param>
        /// <param name="offset">Where in the buffer the datagram begins.</param>
        /// <param name="count">The datagram's bytes, 0 if there is none.</param>
        /// <returns>False if the ack cannot be represented, <c>invalid_field</c> (ENC-7).</returns>
        public static bool TryEncode(uint protocolId, in Ack ack, byte[] buffer, int offset, out int count)
        {
            CheckRoom(buffer, offset);
            count = 0;
            if (!ack.IsValid) return false;
            BitWriter writer = Begin(buffer, offset, PacketType.Ack);
            Write(ref writer, ack);
            count = Finish(ref writer, protocolId, buffer, offset);
            return true;
        }

        /// <summary>DEC-17: decodes a body. The data of a slice stays where it lies.</summary>
        /// <param name="type">Which packet it is.</param>
        /// <param name="bytes">The array in which the body lies.</param>
        /// <param name="offset">Where it begins.</param>
        /// <param name="count">The body's bytes.</param>
        /// <param name="packet">The packet.</param>
        /// <param name="error">Why there is none.</param>
        /// <returns>False if the body is refused.</returns>
        public static bool TryDecodeBody(PacketType type, byte[] bytes, int offset, int count, out Packet packet, out DecodeError error)
        {
            CheckRange(bytes, offset, count);
            var reader = new BitReader(bytes, offset, count);
            bool ok = Read(ref reader, type, bytes, out packet) && reader.End();
            error = reader.Error;
            return ok;
        }

        /// <summary>Decodes a datagram (DEC-1 to DEC-14). The data of a slice stays where it lies.</summary>
        /// <param name="protocolId">The number that both ends share (FRM-5).</param>
        /// <param name="bytes">The array in which the datagram lies.</param>
        /// <param name="offset">Where it begins.</param>
        /// <param name="count">The datagram's bytes.</param>
        /// <param name="packet">The packet.</param>
        /// <param name="error">Why there is none.</param>
        /// <returns>False if the datagram is refused; then it must change nothing but a counter (CON-4).</returns>
        public static bool TryDecode(uint protocolId, byte[] bytes, int offset, int count, out Packet packet, out DecodeError error)
        {
            CheckRange(bytes, offset, count);
            var reader = new BitReader(bytes, offset, count);
            packet = default(Packet);
            bool ok = ReadHead(ref reader, protocolId, bytes, offset, count, out PacketType type)
                && Read(ref reader, type, bytes, out packet)
                && ReadEndCheck(ref reader)
                && reader.End();
            error = reader.Error;
            return ok;
        }

        /// <summary>DEC-1 to DEC-3.</summary>
        internal static bool ReadHead(ref BitReader reader, uint protocolId, byte[] bytes, int offset, int count, out PacketType type)
        {
            uint bit = 0;
            bool ok = reader.Bits(8 * CrcSize, out uint crc)
                && reader.Check(crc == Crc(protocolId, bytes, offset, count), DecodeCode.CrcMismatch, 0)
                && reader.Bits(1, out bit);
            type = (PacketType)bit;
            return ok;
        }

        /// <summary>DEC-12, DEC-13.</summary>
        internal static bool ReadEndCheck(ref BitReader reader)
        {
            int place = reader.Position;
            return reader.Bits(32, out uint value) && reader.Check(value == EndCheck, DecodeCode.BadEndCheck, place);
        }

        /// <summary>FRM-2.</summary>
        private static uint Crc(uint protocolId, byte[] bytes, int offset, int count)
        {
            uint sum = Crc32.Initial;
            for (int i = 0; i < 4; i++) sum = Crc32.Add(sum, (byte)(protocolId >> 8 * i));
            for (int i = 0; i < 4; i++) sum = Crc32.Add(sum, 0);
            return Crc32.Finish(Crc32.Add(sum, bytes, offset + CrcSize, count - CrcSize));
        }

        /// <summary>The fields before the body (FRM-1).</summary>
        internal static BitWriter Begin(byte[] buffer, int offset, PacketType type)
        {
            var writer = new BitWriter(buffer, offset);
            writer.Bits(0, 8 * CrcSize);
            writer.Bits((uint)type, 1); // FRM-3
            return writer;
        }

        /// <summary>The fields after the body, and the crc; returns the datagram's bytes.</summary>
        internal static int Finish(ref BitWriter writer, uint protocolId, byte[] buffer, int offset)
        {
            writer.Align();
            writer.Bits(EndCheck, 32);
            int count = writer.Length;
            new BitWriter(buffer, offset).Bits(Crc(protocolId, buffer, offset, count), 8 * CrcSize);
            return count;
        }

        /// <summary>SLC-1.</summary>
        private static void Write(ref BitWriter writer, in Slice slice)
        {
            writer.Bits((uint)slice.ChunkId, 16);
            writer.Bits((uint)slice.SliceId, 8);
            writer.Bits((uint)(slice.NumSlices - 1), 8);
            if (slice.IsLast) writer.Bits((uint)(slice.Count - 1), 10);
            writer.Bytes(slice.Data, slice.Offset, slice.Count);
        }

        /// <summary>ACK-1.</summary>
        private static void Write(ref BitWriter writer, in Ack ack)
        {
            writer.Bits((uint)ack.ChunkId, 16);
            writer.Bits((uint)(ack.NumSlices - 1), 8);
            for (int k = 0; k < ack.NumSlices; k++) writer.Bits(ack.Acked.Contains(k) ? 1u : 0u, 1);
        }

        private static bool Read(ref BitReader reader, PacketType type, byte[] bytes, out Packet packet)
        {
            return type == PacketType.Slice ? ReadSlice(ref reader, bytes, out packet) : ReadAck(ref reader, out packet);
        }

        /// <summary>DEC-4 to DEC-8, DEC-10, DEC-11.</summary>
        private static bool ReadSlice(ref BitReader reader, byte[] bytes, out Packet packet)
        {
            packet = default(Packet);
            if (!reader.Int(16, 0, out int chunkId)) return false;
            int idPlace = reader.Position;
            if (!(reader.Int(8, 0, out int sliceId)
                && reader.Int(8, 1, out int numSlices)
                && reader.Check(sliceId < numSlices, DecodeCode.SliceIdOutOfRange, idPlace)
                && ReadSliceBytes(ref reader, sliceId == numSlices - 1, out int count)
                && reader.Padding()
                && reader.Bytes(count, out int offset))) return false;
            packet = new Packet(new Slice(chunkId, sliceId, numSlices, bytes, offset, count));
            return true;
        }

        /// <summary>DEC-8.</summary>
        private static bool ReadSliceBytes(ref BitReader reader, bool isLast, out int count)
        {
            count = Limits.SliceSize;
            return !isLast || reader.Int(10, 1, out count);
        }

        /// <summary>DEC-4, DEC-6, DEC-9, DEC-10.</summary>
        private static bool ReadAck(ref BitReader reader, out Packet packet)
        {
            packet = default(Packet);
            if (!(reader.Int(16, 0, out int chunkId) && reader.Int(8, 1, out int numSlices))) return false;
            if (!(ReadAcked(ref reader, numSlices, out SliceSet acked) && reader.Padding())) return false;
            packet = new Packet(new Ack(chunkId, numSlices, acked));
            return true;
        }

        /// <summary>DEC-9.</summary>
        private static bool ReadAcked(ref BitReader reader, int numSlices, out SliceSet acked)
        {
            acked = default(SliceSet);
            if (!reader.Need(numSlices)) return false;
            for (int k = 0; k < numSlices; k++)
            {
                reader.Bits(1, out uint bit);
                if (bit != 0) acked = acked.With(k);
            }
            return true;
        }

        internal static void CheckRoom(byte[] buffer, int offset)
        {
            CheckRange(buffer, offset, Limits.MaxDatagram);
        }

        internal static void CheckRange(byte[] bytes, int offset, int count)
        {
            if (bytes == null) throw new ArgumentNullException("bytes");
            if (offset < 0 || count < 0 || offset > bytes.Length - count) throw new ArgumentOutOfRangeException("offset", "outside the array");
        }
    }
}
