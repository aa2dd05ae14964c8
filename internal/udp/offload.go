package udp

import (
	"errors"
	"net"
	"net/netip"
	"os"
)

// offload is UDP segmentation offload: the system cuts a run into datagrams, so
// that a run costs one call and one pass through its layers. It is for the
// goroutine that writes.
type offload struct {
	works   bool
	why     error // of the refusal that ended or paused it; nil while runs are offloaded
	refused int   // runs refused in a row for a reason that can be the peer's path
	pause   int   // runs that are not offloaded before the next one is
}

const (
	// noOffload names an environment variable that turns the offload off if it is
	// not empty: for drivers that get it wrong, and to measure what it is worth.
	noOffload = "CHUNKWIRE_NO_OFFLOAD"

	// mostRefused is after how many refusals in a row the reason is probably not the path
	// of one peer. It can be that all the same, so after a pause one run is tried again.
	mostRefused = 16
	pausedRuns  = 10_000
)

func newOffload(conn *net.UDPConn) offload {
	return offload{works: os.Getenv(noOffload) == "" && canOffload(conn)}
}

var errNoOffload = errors.New("no segmentation offload")

// write sends a run in one call, with control messages. If it fails, nothing of the run was
// sent. The address is not valid for a connected socket.
func (o *offload) write(conn *net.UDPConn, run *Run, control []byte, to netip.AddrPort) error {
	if !o.works || o.pause > 0 {
		o.pause = max(0, o.pause-1)
		return errNoOffload
	}
	err := writeMessage(conn, run.Data, appendSegmentSize(control, run.Size), to)
	o.note(err)
	return err
}

// writeMessage sends bytes with control messages.
func writeMessage(conn *net.UDPConn, data, control []byte, to netip.AddrPort) (err error) {
	if to.IsValid() {
		_, _, err = conn.WriteMsgUDPAddrPort(data, control, to)
	} else {
		_, _, err = conn.WriteMsgUDP(data, control, nil)
	}
	return err
}

// note turns the offload off once it is clear that it does not work here, or for a while if that seems so.
func (o *offload) note(err error) {
	switch {
	case deviceCannot(err):
		o.works, o.why = false, err
	case segmentsRefused(err):
		o.refused++
		if o.refused >= mostRefused {
			o.pause, o.why = pausedRuns, err
		}
	default:
		o.refused, o.why = 0, nil
	}
}

// OffloadRefusal returns why the system has ended or paused the offload of a socket; nil if it has not, or if there
// never was one. It is for the goroutine that writes.
func OffloadRefusal(s Socket) error {
	switch s := s.(type) {
	case *udpSocket:
		return s.offload.why
	case *connectedUDP:
		return s.offload.why
	}
	return nil
}
