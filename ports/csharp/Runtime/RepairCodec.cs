namespace Chunkwire
{
    /// <summary>
    /// Packets of REPAIR.md to bytes and back (section 4 there): bodies, and datagrams, which are bodies in a frame.
    /// Nothing is allocated and nothing a peer sends makes a method throw.
    /// </summary>
    public static class RepairCodec
    {
        private const uint LaneIds = 256; // LAN-2 of PROTOCOL.md

        /// <summary>RPI-1: the protocol id of repair slices, of a connection of one lane.</summary>
        /// <param name="protocolId">The number that both ends share.</param>
        public static uint ProtocolId(uint protocolId)
        {
            return unchecked(protocolId + LaneIds);
        }

        /// <summary>RPS-1: the body of a slice.</summary>
        /// <param name="slice">The slice.</param>
        /// <param name="buffer">Where the body goes; it needs room for <see cref="Limits.MaxDatagram"/> bytes.</param>
        /// <param name="offset">Where in the buffer the body begins.</param>
        /// <param name="count">The body's bytes, 0 if there is none.</param>
        /// <returns>False if the slice cannot be represented, <c>invalid_field</c> (RPE-6).</returns>
        public static bool TryEncodeBody(in RepairSlice slice, byte[] buffer, int offset, out int count)
        {
            Codec.CheckRoom(buffer, offset);
            count = 0;
            if (!slice.IsValid) return false;
            var writer = new BitWriter(buffer, offset);
            Write(ref writer, slice);
            count = writer.Length;
            return true;
        }

        /// <summary>RPA-1: the body of an ack.</summary>
        /// <param name="ack">The ack.</param>
        /// <param name="buffer">Where the body goes; it needs room for <see cref="Limits.MaxDatagram"/> bytes.</param>
        /// <param name="offset">Where in the buffer the body begins.</param>
        /// <param name="count">The body's bytes, 0 if there is none.</param>
        /// <returns>False if the ack cannot be represented, <c>invalid_field</c> (RPE-6).</returns>
        public static bool TryEncodeBody(in RepairAck ack, byte[] buffer, int offset, out int count)
        {
            Codec.CheckRoom(buffer, offset);
            count = 0;
            if (!ack.IsValid) return false;
            var writer = new BitWriter(buffer, offset);
            Write(ref writer, ack);
            count = writer.Length;
            return true;
        }

        /// <summary>FRM-1: the datagram of a slice.</summary>
        /// <param name="protocolId">The protocol id of repair slices (<see cref="ProtocolId"/>).</param>
        /// <param name="slice">The slice.</param>
        /// <param name="buffer">Where the datagram goes; it needs room for <see cref="Limits.MaxDatagram"/> bytes.</param>
        /// <param name="offset">Where in the buffer the datagram begins.</param>
        /// <param name="count">The datagram's bytes, 0 if there is none.</param>
        /// <returns>False if the slice cannot be represented, <c>invalid_field</c> (RPE-6).</returns>
        public static bool TryEncode(uint protocolId, in RepairSlice slice, byte[] buffer, int offset, out int count)
        {
            Codec.CheckRoom(buffer, offset);
            count = 0;
            if (!slice.IsValid) return false;
            BitWriter writer = Codec.Begin(buffer, offset, PacketType.Slice);
            Write(ref writer, slice);
            count = Codec.Finish(ref writer, protocolId, buffer, offset);
            return true;
        }

        /// <summary>FRM-1: the datagram of an ack.</summary>
        /// <param name="protocolId">The protocol id of repair slices (<see cref="ProtocolId"/>).</param>
        /// <param name="ack">The ack.</param>
        /// <param name="buffer">Where the datagram goes; it needs room for <see cref="Limits.MaxDatagram"/> bytes.</param>
        /// <param name="offset">Where in the buffer the datagram begins.</param>
        /// <param name="count">The datagram's bytes, 0 if there is none.</param>
        /// <returns>False if the ack cannot be represented, <c>invalid_field</c> (RPE-6).</returns>
        public static bool TryEncode(uint protocolId, in RepairAck ack, byte[] buffer, int offset, out int count)
        {
            Codec.CheckRoom(buffer, offset);
            count = 0;
            if (!ack.IsValid) return false;
            BitWriter writer = Codec.Begin(buffer, offset, PacketType.Ack);
            Write(ref writer, ack);
            count = Codec.Finish(ref writer, protocolId, buffer, offset);
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
        public static bool TryDecodeBody(PacketType type, byte[] bytes, int offset, int count, out RepairPacket packet, out DecodeError error)
        {
            Codec.CheckRange(bytes, offset, count);
            var reader = new BitReader(bytes, offset, count);
            bool ok = Read(ref reader, type, bytes, out packet) && reader.End();
            error = reader.Error;
            return ok;
        }

        /// <summary>Decodes a datagram (RPD-6). The data of a slice stays where it lies.</summary>
        /// <param name="protocolId">The protocol id of repair slices (<see cref="ProtocolId"/>).</param>
        /// <param name="bytes">The array in which the datagram lies.</param>
        /// <param name="offset">Where it begins.</param>
        /// <param name="count">The datagram's bytes.</param>
        /// <param name="packet">The packet.</param>
        /// <param name="error">Why there is none.</param>
        /// <returns>False if the datagram is refused; then it must change nothing but a counter (CON-4).</returns>
        public static bool TryDecode(uint protocolId, byte[] bytes, int offset, int count, out RepairPacket packet, out DecodeError error)
        {
            Codec.CheckRange(bytes, offset, count);
            var reader = new BitReader(bytes, offset, count);
            packet = default(RepairPacket);
            bool ok = Codec.ReadHead(ref reader, protocolId, bytes, offset, count, out PacketType type)
                && Read(ref reader, type, bytes, out packet)
                && Codec.ReadEndCheck(ref reader)
                && reader.End();
            error = reader.Error;
            return ok;
        }

        /// <summary>RPS-1.</summary>
        private static void Write(ref BitWriter writer, in RepairSlice slice)
        {
            writer.Bits((uint)slice.ChunkId, 16);
            writer.Bits((uint)slice.SliceId, 13);
            writer.Bits((uint)(slice.NumSlices - 1), 8);
            writer.Bits((uint)(slice.LastBytes - 1), 10);
            writer.Bytes(slice.Data, slice.Offset, slice.Count);
        }

        /// <summary>RPA-1.</summary>
        private static void Write(ref BitWriter writer, in RepairAck ack)
        {
            writer.Bits((uint)ack.ChunkId, 16);
            writer.Bits((uint)(ack.NumSlices - 1), 8);
            writer.Bits((uint)ack.Have, 9);
            writer.Bits((uint)ack.Top, 13);
        }

        private static bool Read(ref BitReader reader, PacketType type, byte[] bytes, out RepairPacket packet)
        {
            return type == PacketType.Slice ? ReadSlice(ref reader, bytes, out packet) : ReadAck(ref reader, out packet);
        }

        /// <summary>DEC-4, RPD-1, DEC-6, RPD-2, DEC-10, DEC-11.</summary>
        private static bool ReadSlice(ref BitReader reader, byte[] bytes, out RepairPacket packet)
        {
            packet = default(RepairPacket);
            if (!(reader.Int(16, 0, out int chunkId)
                && reader.Int(13, 0, out int sliceId)
                && reader.Int(8, 1, out int numSlices)
                && reader.Int(10, 1, out int lastBytes)
                && reader.Padding())) return false;
            int count = RepairCode.SliceBytes(numSlices, lastBytes, sliceId);
            if (!reader.Bytes(count, out int offset)) return false;
            packet = new RepairPacket(new RepairSlice(chunkId, sliceId, numSlices, lastBytes, bytes, offset, count));
            return true;
        }

        /// <summary>DEC-4, DEC-6, RPD-3 to RPD-5, DEC-10.</summary>
        private static bool ReadAck(ref BitReader reader, out RepairPacket packet)
        {
            packet = default(RepairPacket);
            if (!(reader.Int(16, 0, out int chunkId) && reader.Int(8, 1, out int numSlices))) return false;
            int place = reader.Position;
            if (!(reader.Int(9, 0, out int have)
                && reader.Check(have <= numSlices, DecodeCode.HaveOutOfRange, place)
                && reader.Int(13, 0, out int top)
                && reader.Padding())) return false;
            packet = new RepairPacket(new RepairAck(chunkId, numSlices, have, top));
            return true;
        }
    }
}
