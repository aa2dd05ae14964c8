using System;

namespace Chunkwire
{
    /// <summary>
    /// Rebuilds a chunk from slices whose rows are independent (RPC-5, RPC-6).
    /// Each repair slice that is held is the equation of a source slice that is missing, its pivot: it lies where that slice would lie.
    /// Its row has 1 at the pivot, and 0 at other pivots and at source slices that are held.
    /// All memory is set aside when it is made.
    /// </summary>
    internal sealed class RepairDecoder
    {
        private const int Width = Limits.MaxSlices; // of a row
        private const int Scratch = Limits.MaxSlices; // the row of a slice that arrives

        private readonly byte[] memory = new byte[Limits.MaxChunk];
        private readonly byte[] rows = new byte[(Limits.MaxSlices + 1) * Width];
        private readonly int[] ids = new int[Limits.MaxSlices]; // of the equations, by their pivots
        private readonly RepairSum sum = new RepairSum();
        private SliceSet sources;
        private SliceSet pivots;

        /// <summary>The slices of the chunk.</summary>
        public int NumSlices { get; private set; }

        /// <summary>The bytes of its last slice.</summary>
        public int LastBytes { get; private set; }

        /// <summary>How many slices are held; all of them are independent.</summary>
        public int Rank
        {
            get { return sources.Count + pivots.Count; }
        }

        /// <summary>Whether they rebuild the chunk.</summary>
        public bool IsComplete
        {
            get { return Rank == NumSlices; }
        }

        /// <summary>The chunk, after <see cref="Rebuild"/>. It is there until the next chunk begins.</summary>
        public ArraySegment<byte> Chunk
        {
            get { return new ArraySegment<byte>(memory, 0, Size); }
        }

        private int Size
        {
            get { return Limits.SliceSize * (NumSlices - 1) + LastBytes; }
        }

        /// <summary>Begins a chunk, of which nothing is held.</summary>
        public void Start(int numSlices, int lastBytes)
        {
            NumSlices = numSlices;
            LastBytes = lastBytes;
            sources = pivots = default(SliceSet);
        }

        /// <summary>Whether a slice is held.</summary>
        public bool Has(int id)
        {
            if (id < NumSlices) return sources.Contains(id);
            for (int p = pivots.NextFrom(0); p >= 0; p = pivots.NextFrom(p + 1))
            {
                if (ids[p] == id) return true;
            }
            return false;
        }

        /// <summary>Takes a slice; false if it is held, or follows from those that are.</summary>
        public bool Add(in RepairSlice slice)
        {
            if (IsComplete || Has(slice.SliceId)) return false;
            return slice.IsRepair ? AddRepair(slice) : AddSource(slice);
        }

        /// <summary>Rebuilds the missing slices of a complete chunk (section 3.3).</summary>
        /// <returns>Whether what its last slice was filled up with came out as zeros (RPR-11); they are zeros then.</returns>
        public bool Rebuild()
        {
            for (int p = pivots.NextFrom(0); p >= 0; p = pivots.NextFrom(p + 1)) TakeOutSources(p);
            for (int p = pivots.NextFrom(0); p >= 0; p = pivots.NextFrom(p + 1)) Solve(p);
            return ClearTail();
        }

        /// <summary>Whether these are the data of a repair slice of the chunk that was rebuilt.</summary>
        public bool Matches(int id, byte[] data, int offset, int count)
        {
            sum.Make(memory, 0, Size, id - NumSlices, SliceSet.First(NumSlices));
            for (int t = 0; t < count; t++)
            {
                if (sum.Block[t] != data[offset + t]) return false;
            }
            return true;
        }

        /// <summary>A source slice; if its place is a pivot, that equation gets another one, or was the slice's own.</summary>
        private bool AddSource(in RepairSlice slice)
        {
            int i = slice.SliceId;
            if (pivots.Contains(i) && !MovePivot(i)) return false;
            for (int p = pivots.NextFrom(0); p >= 0; p = pivots.NextFrom(p + 1)) rows[Width * p + i] = 0;
            sources = sources.With(i);
            Store(i, slice);
            return true;
        }

        /// <summary>Frees a place for its source slice; false if the equation has no other place.</summary>
        private bool MovePivot(int i)
        {
            rows[Width * i + i] = 0;
            int to = Place(i);
            if (to < 0)
            {
                rows[Width * i + i] = 1;
                return false;
            }
            pivots = pivots.Without(i);
            SetPivot(i, to, ids[i]);
            Buffer.BlockCopy(memory, Limits.SliceSize * i, memory, Limits.SliceSize * to, Limits.SliceSize);
            return true;
        }

        private bool AddRepair(in RepairSlice slice)
        {
            for (int c = 0; c < NumSlices; c++) rows[Width * Scratch + c] = sources.Contains(c) ? (byte)0 : Coefficient(slice.SliceId, c);
            for (int p = pivots.NextFrom(0); p >= 0; p = pivots.NextFrom(p + 1)) Eliminate(Scratch, p);
            int to = Place(Scratch);
            if (to < 0) return false;
            SetPivot(Scratch, to, slice.SliceId);
            Store(to, slice);
            return true;
        }

        /// <summary>RPC-5.</summary>
        private byte Coefficient(int id, int place)
        {
            return Field.Power(RepairCode.Exponent(id - NumSlices, place));
        }

        /// <summary>The first place where a row is not 0, or -1.</summary>
        private int Place(int row)
        {
            for (int c = 0; c < NumSlices; c++)
            {
                if (rows[Width * row + c] != 0) return c;
            }
            return -1;
        }

        /// <summary>Makes a place the pivot of a row, which moves there.</summary>
        private void SetPivot(int row, int place, int id)
        {
            Buffer.BlockCopy(rows, Width * row, rows, Width * place, NumSlices);
            Field.Scale(rows, Width * place, NumSlices, Field.Inverse(rows[Width * place + place]));
            for (int p = pivots.NextFrom(0); p >= 0; p = pivots.NextFrom(p + 1)) Eliminate(p, place);
            pivots = pivots.With(place);
            ids[place] = id;
        }

        /// <summary>Makes a row 0 at a pivot, and returns the factor of the pivot's row that this took.</summary>
        private byte Eliminate(int row, int pivot)
        {
            byte factor = rows[Width * row + pivot];
            if (factor != 0) Field.AddTimes(rows, Width * row, Width * pivot, NumSlices, factor);
            return factor;
        }

        /// <summary>Copies data to a place, and fills them up with zeros.</summary>
        private void Store(int place, in RepairSlice slice)
        {
            int start = Limits.SliceSize * place;
            Buffer.BlockCopy(slice.Data, slice.Offset, memory, start, slice.Count);
            Array.Clear(memory, start + slice.Count, Limits.SliceSize - slice.Count);
        }

        /// <summary>Step 1 of section 3.3; the row becomes the row of the slice at the missing places.</summary>
        private void TakeOutSources(int p)
        {
            for (int c = 0; c < NumSlices; c++) rows[Width * p + c] = pivots.Contains(c) ? Coefficient(ids[p], c) : (byte)0;
            sum.Make(memory, 0, Limits.SliceSize * NumSlices, ids[p] - NumSlices, sources);
            for (int t = 0; t < Limits.SliceSize; t++) memory[Limits.SliceSize * p + t] ^= sum.Block[t];
        }

        /// <summary>Steps 2 and 3 of section 3.3, for one missing slice.</summary>
        private void Solve(int p)
        {
            int from = p;
            while (rows[Width * from + p] == 0) from = pivots.NextFrom(from + 1); // the rows are independent, so there is one
            Swap(rows, Width * p, Width * from, NumSlices);
            Swap(memory, Limits.SliceSize * p, Limits.SliceSize * from, Limits.SliceSize);
            byte inverse = Field.Inverse(rows[Width * p + p]);
            Field.Scale(rows, Width * p, NumSlices, inverse);
            Field.Scale(memory, Limits.SliceSize * p, Limits.SliceSize, inverse);
            for (int q = pivots.NextFrom(0); q >= 0; q = pivots.NextFrom(q + 1))
            {
                byte factor = q == p ? (byte)0 : Eliminate(q, p);
                if (factor != 0) Field.AddTimes(memory, Limits.SliceSize * q, Limits.SliceSize * p, Limits.SliceSize, factor);
            }
        }

        private static void Swap(byte[] bytes, int a, int b, int count)
        {
            for (int i = 0; a != b && i < count; i++)
            {
                byte kept = bytes[a + i];
                bytes[a + i] = bytes[b + i];
                bytes[b + i] = kept;
            }
        }

        private bool ClearTail()
        {
            bool clear = true;
            for (int t = Size; t < Limits.SliceSize * NumSlices; t++)
            {
                clear &= memory[t] == 0;
                memory[t] = 0;
            }
            return clear;
        }
    }
}
