package udp

// MessageTooLong reports whether a read failed because the datagram did not fit.
// There is no such error here.
func MessageTooLong(error) bool { return false }

// PortUnreachable reports whether nobody listens at the peer's port. The system
// does not say so.
func PortUnreachable(error) bool { return false }
