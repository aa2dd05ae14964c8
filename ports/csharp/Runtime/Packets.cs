namespace Chunkwire
{
    /// <summary>The two packets, by the number that the frame has for them (FRM-3).</summary>
    public enum PacketType
    {
        /// <summary>A piece of a chunk.</summary>
        Slice = 0,

        /// <summary>Which slices of a chunk have arrived.</summary>
        Ack = 1,
    }

    /// <summary>A piece of a chunk (section 4.1). It refers to its data and has no copy of it.</summary>
    public readonly struct Slice
    {
        /// <summary>0 to 65,535.</summary>
        public readonly int ChunkId;

        /// <summary>0 to <see cref="NumSlices"/> - 1.</summary>
        public readonly int SliceId;

        /// <summary>1 to 256: a byte cannot hold it.</summary>
        public readonly int NumSlices;

        /// <summary>The array in which the data lies.</summary>
        public readonly byte[] Data;

        /// <summary>Where in <see cref="Data"/> the slice's data begins.</summary>
        public readonly int Offset;

        /// <summary>Bytes of data: 1,024, in the last slice 1 to 1,024.</summary>
        public readonly int Count;

        /// <summary>A slice with these fields, which an encoder checks.</summary>
        public Slice(int chunkId, int sliceId, int numSlices, byte[] data, int offset, int count)
        {
            ChunkId = chunkId;
            SliceId = sliceId;
            NumSlices = numSlices;
            Data = data;
            Offset = offset;
            Count = count;
        }

        /// <summary>ENC-1 to ENC-4: whether the fields can be represented.</summary>
        public bool IsValid
        {
            get
            {
                return Limits.IsWithin(ChunkId, 0, Limits.ChunkIds - 1)
                    && Limits.IsWithin(NumSlices, 1, Limits.MaxSlices)
                    && Limits.IsWithin(SliceId, 0, NumSlices - 1)
                    && Limits.IsWithin(Count, IsLast ? 1 : Limits.SliceSize, Limits.SliceSize)
                    && Data != null && Limits.IsWithin(Offset, 0, Data.Length - Count);
            }
        }

        /// <summary>Whether it is the last slice of its chunk, the one that has its length in it (SLC-1).</summary>
        internal bool IsLast
        {
            get { return SliceId == NumSlices - 1; }
        }
    }

    /// <summary>Which slices of a chunk have arrived (section 4.2).</summary>
    public readonly struct Ack
    {
        /// <summary>0 to 65,535.</summary>
        public readonly int ChunkId;

        /// <summary>1 to 256: a byte cannot hold it.</summary>
        public readonly int NumSlices;

        /// <summary>The slices that the receiver has.</summary>
        public readonly SliceSet Acked;

        /// <summary>An ack with these fields, which an encoder checks.</summary>
        public Ack(int chunkId, int numSlices, in SliceSet acked)
        {
            ChunkId = chunkId;
            NumSlices = numSlices;
            Acked = acked;
        }

        /// <summary>ENC-1, ENC-2, ENC-5: whether the fields can be represented.</summary>
        public bool IsValid
        {
            get
            {
                return Limits.IsWithin(ChunkId, 0, Limits.ChunkIds - 1)
                    && Limits.IsWithin(NumSlices, 1, Limits.MaxSlices)
                    && Acked.Except(SliceSet.First(NumSlices)).IsEmpty;
            }
        }
    }

    /// <summary>A slice or an ack, as <see cref="Type"/> says.</summary>
    public readonly struct Packet
    {
        /// <summary>Which of the two it is.</summary>
        public readonly PacketType Type;

        /// <summary>The slice, if it is one.</summary>
        public readonly Slice Slice;

        /// <summary>The ack, if it is one.</summary>
        public readonly Ack Ack;

        /// <summary>A packet that is a slice.</summary>
        public Packet(in Slice slice)
        {
            Type = PacketType.Slice;
            Slice = slice;
            Ack = default(Ack);
        }

        /// <summary>A packet that is an ack.</summary>
        public Packet(in Ack ack)
        {
            Type = PacketType.Ack;
            Slice = default(Slice);
            Ack = ack;
        }
    }
}
