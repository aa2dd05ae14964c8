package bench

// MessagePeers returns what moves messages, ours first.
func MessagePeers() []MessagePeer {
	return append(OurMessages(), append(kcpMessagePeers(), quicMessages()...)...)
}
