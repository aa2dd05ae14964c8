using System;
using System.Net;
using System.Reflection;
using Chunkwire.Samples;
using UnityEngine;

namespace Chunkwire.Tests
{
    /// <summary>The sample for Unity, over sockets of 127.0.0.1, in a time that the test sets.</summary>
    internal static class SampleTests
    {
        public static void ALevelArrivesWhileTheBarMoves()
        {
            var screen = new LoadingScreen();
            var server = new LevelServer();
            byte[] level = Ends.Chunk(Limits.MaxChunk), loaded = null;
            bool delivered = false;
            Set(screen, "port", 0);
            screen.Loaded += bytes => loaded = bytes;
            screen.Failed += () => throw new Failure("the screen gave up");
            server.Delivered += () => delivered = true;
            server.Failed += () => throw new Failure("the server gave up");

            Call(screen, "OnEnable");
            float shown = 0;
            int frames = 0, moved = 0;
            Check.That(server.Send(new IPEndPoint(IPAddress.Loopback, screen.Address.Port), level), "the level was refused");
            for (; (loaded == null || !delivered) && frames < 3000; frames++)
            {
                Time.realtimeSinceStartupAsDouble += 1.0 / 60;
                Call(server, "Update");
                Call(screen, "Update");
                Check.That(screen.Progress >= shown, "the bar goes back");
                if (screen.Progress > shown) moved++;
                shown = screen.Progress;
            }
            Call(server, "OnDisable");
            Call(screen, "OnDisable");

            Check.That(loaded != null && delivered, "no level after 3,000 frames");
            Check.Equal(Convert.ToBase64String(level), Convert.ToBase64String(loaded), "the level");
            Check.Equal(1f, screen.Progress, "the bar");
            Check.That(moved > 5, "the bar moved " + moved + " times");
            Check.That(frames < 30, "it took " + frames + " frames");
        }

        public static void ALevelThatIsTooLargeIsRefused()
        {
            var server = new LevelServer();
            bool sent = server.Send(new IPEndPoint(IPAddress.Loopback, 9), new byte[Limits.MaxChunk + 1]);
            Call(server, "OnDisable");
            Check.That(!sent, "it was taken");
        }

        /// <summary>Nobody listens: datagrams are refused by the system, and the server gives up.</summary>
        public static void APlayerWhoIsGone()
        {
            var server = new LevelServer();
            bool failed = false;
            server.Failed += () => failed = true;
            using (var nobody = new UdpLink(0, new IPEndPoint(IPAddress.Loopback, 0), null))
            {
                IPEndPoint address = nobody.Local;
                nobody.Dispose();
                Check.That(server.Send(address, Ends.Chunk(5000)), "the level was refused");
            }
            for (int frame = 0; frame < 60 * 30 - 1 && !failed; frame++)
            {
                Time.realtimeSinceStartupAsDouble += 1.0 / 60;
                Call(server, "Update");
            }
            Check.That(!failed, "gave up before 30 s");
            Time.realtimeSinceStartupAsDouble += 1;
            Call(server, "Update");
            Call(server, "OnDisable");
            Check.That(failed, "did not give up");
        }

        /// <summary>A frame of either end allocates nothing once the peers know each other.</summary>
        public static void AFrameAllocatesNothing()
        {
            var here = new IPEndPoint(IPAddress.Loopback, 0);
            using (var screen = new UdpLink(1, here, null))
            using (var server = new UdpLink(1, here, screen.Local))
            {
                byte[] chunk = Ends.Chunk(1024);
                var slice = new Slice(0, 0, 1, chunk, 0, chunk.Length);
                var ack = new Ack(0, 1, SliceSet.First(1));
                Exchange(screen, server, slice, ack);
                Exchange(screen, server, slice, ack);
                long before = GC.GetAllocatedBytesForCurrentThread();
                for (int i = 0; i < 1000; i++) Exchange(screen, server, slice, ack);
                Check.Equal(0L, GC.GetAllocatedBytesForCurrentThread() - before, "bytes allocated by 2,000 datagrams");
            }
        }

        /// <summary>Who is heard first is the peer only with a packet that decodes.</summary>
        public static void AStrangerIsNotThePeer()
        {
            var here = new IPEndPoint(IPAddress.Loopback, 0);
            using (var screen = new UdpLink(1, here, null))
            using (var stranger = new UdpLink(2, here, screen.Local))
            using (var server = new UdpLink(1, here, screen.Local))
            {
                var slice = new Slice(0, 0, 1, new byte[] { 1 }, 0, 1);
                stranger.Send(slice);
                Check.That(!screen.TryReceive(out Packet packet), "it was taken");
                Check.Equal(1L, screen.Refused, "datagrams that were refused");
                Exchange(screen, server, slice, new Ack(0, 1, SliceSet.First(1)));
            }
        }

        private static void Exchange(UdpLink screen, UdpLink server, in Slice slice, in Ack ack)
        {
            server.Send(slice);
            Check.That(screen.TryReceive(out Packet packet), "no slice");
            screen.Send(ack);
            Check.That(server.TryReceive(out packet), "no ack");
            Check.That(!server.TryReceive(out packet), "another packet");
        }

        private static void Call(object script, string method)
        {
            MethodInfo found = script.GetType().GetMethod(method, BindingFlags.Instance | BindingFlags.NonPublic);
            Check.That(found != null, "Unity finds no " + method);
            try
            {
                found.Invoke(script, null);
            }
            catch (TargetInvocationException e)
            {
                throw e.InnerException;
            }
        }

        private static void Set(object script, string field, object value)
        {
            script.GetType().GetField(field, BindingFlags.Instance | BindingFlags.NonPublic).SetValue(script, value);
        }
    }
}
