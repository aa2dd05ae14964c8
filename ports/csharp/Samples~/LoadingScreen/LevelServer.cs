using System;
using System.Net;
using UnityEngine;

namespace Chunkwire.Samples
{
    /// <summary>Sends a level of up to 256 KiB to a <see cref="LoadingScreen"/>.</summary>
    public sealed class LevelServer : MonoBehaviour
    {
        private const float Microseconds = 1e6f;

        [SerializeField, Tooltip("The same number at both ends, and another one for each connection.")]
        private uint protocolId = 0x4c564c31;

        [SerializeField, Tooltip("Bytes a second that the path carries, with headers.")]
        private int rate = 1000000;

        [SerializeField, Tooltip("Longer than the main thread is ever blocked, and the same at both ends.")]
        private float giveUpSeconds = 30;

        private UdpLink link;
        private Sender sender;

        /// <summary>The player has the level.</summary>
        public event Action Delivered;

        /// <summary>The player is gone.</summary>
        public event Action Failed;

        /// <summary>The time, in microseconds since the game began.</summary>
        internal static long Now
        {
            get { return (long)(Time.realtimeSinceStartupAsDouble * 1000000); }
        }

        /// <summary>How much of the level has arrived, 0 to 1.</summary>
        public float Progress
        {
            get { return sender != null && sender.NumSlices > 0 ? (float)sender.Acked.Count / sender.NumSlices : 0; }
        }

        /// <summary>The protocol id of the connection, set before the level is sent.</summary>
        public uint ProtocolId
        {
            get { return protocolId; }
            set { protocolId = value; }
        }

        /// <summary>Sends a level, which must stay as it is until it was delivered.</summary>
        /// <param name="player">The address, which the player has shown to be its own (SEC-7).</param>
        /// <param name="level">1 to 262,144 bytes.</param>
        /// <returns>False if the level is too large.</returns>
        public bool Send(IPEndPoint player, byte[] level)
        {
            Close();
            link = new UdpLink(protocolId, new IPEndPoint(IPAddress.Any, 0), player);
            sender = new Sender(new BaseScheduler(Profile.Fixed(rate)), giveUp: (long)(giveUpSeconds * Microseconds));
            return sender.TrySubmit(Now, level, 0, level.Length);
        }

        private void Update()
        {
            if (sender == null || sender.State != SenderState.Sending) return;
            long now = Now;
            while (link.TryReceive(out Packet packet))
            {
                if (packet.Type == PacketType.Ack) sender.Take(now, packet.Ack); // before the poll (SND-4)
            }
            while (sender.TryPoll(now, out Slice slice)) link.Send(slice);
            if (sender.State == SenderState.Idle && Delivered != null) Delivered();
            if (sender.State == SenderState.Failed && Failed != null) Failed();
        }

        private void OnDisable()
        {
            Close();
        }

        private void Close()
        {
            if (link != null) link.Dispose();
            link = null;
            sender = null;
        }
    }
}
