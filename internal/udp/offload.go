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
	works  bool
	paused map[Key]int // runs that are not offloaded before the next one is, of peers whose latest was refused
	why    error       // of the latest refusal; nil while none is paused
}

const (
	// noOffload names an environment variable that turns the offload off if it is
	// not empty, also for reading: for drivers with faulty offload, and to measure its worth.
	noOffload = "CHUNKWIRE_NO_OFFLOAD"

	// A refusal has to do with the path to one peer, or with the device that is on it: others
	// go on. The path can change, so after a pause one run is tried again.
	pausedRuns = 1_000
	mostPaused = 1_024 // peers; then all are tried again
)

func newOffload(conn *net.UDPConn) offload {
	return offload{works: os.Getenv(noOffload) == "" && canOffload(conn)}
}

var errNoOffload = errors.New("no segmentation offload")

// write sends a run in one call, with control messages. If it fails, nothing of the run was
// sent. The address is not valid for a connected socket.
func (o *offload) write(conn *net.UDPConn, run *Run, control []byte, to netip.AddrPort) error {
	if !o.works {
		return errNoOffload
	}
	if left := o.paused[run.To.Key]; left > 0 {
		o.paused[run.To.Key] = left - 1
		return errNoOffload
	}
	err := writeMessage(conn, run.Data, appendSegmentSize(control, run.Size), to)
	o.note(run.To.Key, err)
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

// note begins a pause for a peer whose run was refused, and ends it with the first that is taken.
func (o *offload) note(to Key, err error) {
	switch {
	case segmentsRefused(err):
		if o.paused == nil || len(o.paused) >= mostPaused {
			o.paused = make(map[Key]int)
		}
		o.paused[to], o.why = pausedRuns, err
	case err == nil && len(o.paused) > 0:
		if delete(o.paused, to); len(o.paused) == 0 {
			o.why = nil
		}
	}
}

// OffloadRefusal returns why the system has refused the latest run that it did, while one of the peers is sent none
// because of that. It is for the goroutine that writes.
func OffloadRefusal(s Socket) error {
	switch s := s.(type) {
	case *udpSocket:
		return s.offload.why
	case *connectedUDP:
		return s.offload.why
	}
	return nil
}
