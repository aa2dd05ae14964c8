using System;
using System.Collections.Generic;

namespace Chunkwire.Tests
{
    internal static class SliceSetTests
    {
        /// <summary>A set does what a sorted set of the library does.</summary>
        public static void ASetDoesWhatASortedSetDoes()
        {
            const int seed = 3;
            var random = new Random(seed);
            for (int round = 0; round < 200; round++)
            {
                var model = new SortedSet<int>();
                var other = new SortedSet<int>();
                SliceSet set = default(SliceSet), second = default(SliceSet);
                for (int i = random.Next(40); i > 0; i--)
                {
                    int k = random.Next(256);
                    model.Add(k);
                    set = set.With(k);
                    k = random.Next(256);
                    model.Remove(k);
                    set = set.Without(k);
                    k = random.Next(256);
                    other.Add(k);
                    second = second.With(k);
                }
                Same(model, set);
                Same(Combined(model, other, (a, b) => a.UnionWith(b)), set | second);
                Same(Combined(model, other, (a, b) => a.IntersectWith(b)), set & second);
                Same(Combined(model, other, (a, b) => a.ExceptWith(b)), set.Except(second));
                Check.Equal(model.SetEquals(other), set.Equals(second), "equal");
            }
        }

        public static void TheFirstSlices()
        {
            for (int n = 0; n <= 256; n++)
            {
                Check.Equal(n, SliceSet.First(n).Count, "count");
                Check.Equal(n - 1, SliceSet.First(n).LastBelow(256), "last");
            }
        }

        /// <summary>No id outside 0 to 255 is ever in a set, and none can be put into one.</summary>
        public static void IdsThatNoChunkHas()
        {
            foreach (int id in new[] { -1, 256, 320, int.MinValue, int.MaxValue })
            {
                Check.That(!SliceSet.First(256).Contains(id), "slice " + id);
                Check.Throws<ArgumentOutOfRangeException>(() => default(SliceSet).With(id), "slice " + id);
            }
        }

        private static SortedSet<int> Combined(SortedSet<int> a, SortedSet<int> b, Action<SortedSet<int>, SortedSet<int>> combine)
        {
            var result = new SortedSet<int>(a);
            combine(result, b);
            return result;
        }

        private static void Same(SortedSet<int> want, SliceSet got)
        {
            Check.Equal(want.Count, got.Count, "count");
            Check.Equal(want.Count == 0, got.IsEmpty, "empty");
            for (int k = 0; k < 256; k++) Check.Equal(want.Contains(k), got.Contains(k), "slice " + k);
            for (int k = 0; k <= 256; k++)
            {
                Check.Equal(First(want.GetViewBetween(k, 1000)), got.NextFrom(k), "the next from " + k);
                Check.Equal(Last(want.GetViewBetween(-1, k - 1)), got.LastBelow(k), "the last below " + k);
            }
        }

        private static int First(SortedSet<int> set)
        {
            return set.Count > 0 ? set.Min : -1;
        }

        private static int Last(SortedSet<int> set)
        {
            return set.Count > 0 ? set.Max : -1;
        }
    }
}
