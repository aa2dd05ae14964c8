using System;
using System.Net;
using UnityEngine;
using UnityEngine.Events;

namespace Chunkwire.Samples
{
    /// <summary>
    /// Receives a level from <see cref="LevelServer"/> while a loading bar moves.
    /// Everything happens in Update, and a frame allocates nothing but the level itself, once.
    /// It goes on running while it is enabled: the server may not have heard the last ack (CON-7).
    /// </summary>
    public sealed class LoadingScreen : MonoBehaviour
    {
        private const float Microseconds = 1e6f;

        [SerializeField, Tooltip("The port at which the level arrives.")]
        private int port = 40001;

        [SerializeField, Tooltip("The same number at both ends, and another one for each connection.")]
        private uint protocolId = 0x4c564c31;

        [SerializeField, Tooltip("Longer than the main thread is ever blocked, and the same at both ends.")]
        private float giveUpSeconds = 30;

        [SerializeField, Tooltip("Gets 0 to 1, for instance the value of a slider.")]
        private FloatEvent progressed = new FloatEvent();

        private UdpLink link;
        private Receiver receiver;

        /// <summary>The level is here. The array belongs to who gets it.</summary>
        public event Action<byte[]> Loaded;

        /// <summary>The server is gone.</summary>
        public event Action Failed;

        /// <summary>What the bar shows, 0 to 1.</summary>
        public float Progress { get; private set; }

        /// <summary>The protocol id of the connection, set before the first frame.</summary>
        public uint ProtocolId
        {
            get { return protocolId; }
            set { protocolId = value; }
        }

        /// <summary>Where the level is to be sent.</summary>
        public IPEndPoint Address
        {
            get { return link.Local; }
        }

        private void OnEnable()
        {
            link = new UdpLink(protocolId, new IPEndPoint(IPAddress.Any, port), null);
            receiver = new Receiver(giveUp: (long)(giveUpSeconds * Microseconds));
            Show(0);
        }

        private void OnDisable()
        {
            link.Dispose();
        }

        private void Update()
        {
            if (receiver.State == ReceiverState.Failed) return;
            long now = LevelServer.Now;
            while (link.TryReceive(out Packet packet))
            {
                if (packet.Type == PacketType.Slice) receiver.Take(now, packet.Slice);
            }
            if (receiver.NumSlices > 0) Show((float)receiver.Received.Count / receiver.NumSlices);
            if (receiver.TryRead(now, out ArraySegment<byte> chunk)) Finish(chunk);
            while (receiver.TryPoll(now, out Ack ack)) link.Send(ack);
            if (receiver.State == ReceiverState.Failed && Failed != null) Failed();
        }

        /// <summary>The chunk lies in the receiver's memory, so it is copied.</summary>
        private void Finish(ArraySegment<byte> chunk)
        {
            var level = new byte[chunk.Count];
            Buffer.BlockCopy(chunk.Array, chunk.Offset, level, 0, chunk.Count);
            Show(1);
            if (Loaded != null) Loaded(level);
        }

        private void Show(float progress)
        {
            Progress = progress;
            progressed.Invoke(progress);
        }

        /// <summary>An event that the inspector shows.</summary>
        [Serializable]
        public sealed class FloatEvent : UnityEvent<float>
        {
        }
    }
}
