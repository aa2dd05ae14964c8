package transport

import (
	"net"
	"os"
)

// offload is UDP segmentation offload: the system cuts a run into datagrams, so
// that one call and one way through its layers do for all of them.
type offload struct {
	works   bool
	control []byte // of the latest call, used again
}

// noOffload names an environment variable that turns the offload off if it is
// not empty: for drivers that get it wrong, and to measure what it is worth.
const noOffload = "CHUNKWIRE_NO_OFFLOAD"

func newOffload(conn *net.UDPConn) offload {
	return offload{works: os.Getenv(noOffload) == "" && canOffload(conn)}
}

// write sends a run in one call and reports whether that worked. If not, nothing
// of the run was sent. It is for the driver alone.
func (o *offload) write(conn *net.UDPConn, run *message) bool {
	if !o.works {
		return false
	}
	o.control = appendSegmentSize(o.control[:0], run.size)
	_, _, err := conn.WriteMsgUDPAddrPort(run.data, o.control, run.to.key.port)
	if refusedForGood(err) {
		o.works = false
	}
	return err == nil
}
