namespace Chunkwire
{
    /// <summary>
    /// A slice of REPAIR.md, source or repair (section 4.1 there). It refers to its data and has no copy of it.
    /// </summary>
    public readonly struct RepairSlice
    {
        /// <summary>0 to 65,535.</summary>
        public readonly int ChunkId;

        /// <summary>0 to 8,191: below <see cref="NumSlices"/> of a source slice, and from there on of a repair slice.</summary>
        public readonly int SliceId;

        /// <summary>1 to 256: a byte cannot hold it.</summary>
        public readonly int NumSlices;

        /// <summary>Bytes of the last source slice of the chunk, 1 to 1,024 (RPS-3).</summary>
        public readonly int LastBytes;

        /// <summary>The array in which the data lies.</summary>
        public readonly byte[] Data;

        /// <summary>Where in <see cref="Data"/> the slice's data begins.</summary>
        public readonly int Offset;

        /// <summary>Bytes of data (RPS-2).</summary>
        public readonly int Count;

        /// <summary>A slice with these fields, which an encoder checks.</summary>
        public RepairSlice(int chunkId, int sliceId, int numSlices, int lastBytes, byte[] data, int offset, int count)
        {
            ChunkId = chunkId;
            SliceId = sliceId;
            NumSlices = numSlices;
            LastBytes = lastBytes;
            Data = data;
            Offset = offset;
            Count = count;
        }

        /// <summary>ENC-1, ENC-2, RPE-1 to RPE-3: whether the fields can be represented.</summary>
        public bool IsValid
        {
            get
            {
                return Limits.IsWithin(ChunkId, 0, Limits.ChunkIds - 1)
                    && Limits.IsWithin(NumSlices, 1, Limits.MaxSlices)
                    && Limits.IsWithin(SliceId, 0, RepairCode.MaxIds - 1)
                    && Limits.IsWithin(LastBytes, 1, Limits.SliceSize)
                    && Count == RepairCode.SliceBytes(NumSlices, LastBytes, SliceId)
                    && Data != null && Limits.IsWithin(Offset, 0, Data.Length - Count);
            }
        }

        /// <summary>Whether it is a sum of source slices.</summary>
        internal bool IsRepair
        {
            get { return SliceId >= NumSlices; }
        }
    }

    /// <summary>How many slices of a chunk a receiver has, and up to which one arrived (REPAIR.md, section 4.2).</summary>
    public readonly struct RepairAck
    {
        /// <summary>0 to 65,535.</summary>
        public readonly int ChunkId;

        /// <summary>1 to 256: a byte cannot hold it.</summary>
        public readonly int NumSlices;

        /// <summary>How many independent slices the receiver has, 0 to <see cref="NumSlices"/>.</summary>
        public readonly int Have;

        /// <summary>The field: the id of the transmission after the last one that arrived, 0 to 8,191 (RPN-4).</summary>
        public readonly int Top;

        /// <summary>An ack with these fields, which an encoder checks.</summary>
        public RepairAck(int chunkId, int numSlices, int have, int top)
        {
            ChunkId = chunkId;
            NumSlices = numSlices;
            Have = have;
            Top = top;
        }

        /// <summary>ENC-1, ENC-2, RPE-4, RPE-5: whether the fields can be represented.</summary>
        public bool IsValid
        {
            get
            {
                return Limits.IsWithin(ChunkId, 0, Limits.ChunkIds - 1)
                    && Limits.IsWithin(NumSlices, 1, Limits.MaxSlices)
                    && Limits.IsWithin(Have, 0, NumSlices)
                    && Limits.IsWithin(Top, 0, RepairCode.MaxIds - 1);
            }
        }
    }

    /// <summary>A slice or an ack of REPAIR.md, as <see cref="Type"/> says.</summary>
    public readonly struct RepairPacket
    {
        /// <summary>Which of the two it is.</summary>
        public readonly PacketType Type;

        /// <summary>The slice, if it is one.</summary>
        public readonly RepairSlice Slice;

        /// <summary>The ack, if it is one.</summary>
        public readonly RepairAck Ack;

        /// <summary>A packet that is a slice.</summary>
        public RepairPacket(in RepairSlice slice)
        {
            Type = PacketType.Slice;
            Slice = slice;
            Ack = default(RepairAck);
        }

        /// <summary>A packet that is an ack.</summary>
        public RepairPacket(in RepairAck ack)
        {
            Type = PacketType.Ack;
            Slice = default(RepairSlice);
            Ack = ack;
        }
    }
}
