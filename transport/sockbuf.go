package transport

import "net"

// sizeBuffers asks for socket buffers of so many bytes. A burst of a whole
// chunk overflows the usual default, and what overflows is loss. The system may
// give less without an error, so the answer is what it reports, in the measure of
// what was asked for; 0 where that cannot be known.
func sizeBuffers(pc net.PacketConn, bytes int) (read, write int) {
	if s, ok := pc.(interface{ SetReadBuffer(int) error }); ok {
		s.SetReadBuffer(bytes) // a failure shows in what is read back
	}
	if s, ok := pc.(interface{ SetWriteBuffer(int) error }); ok {
		s.SetWriteBuffer(bytes)
	}
	return readBackBuffers(pc)
}
