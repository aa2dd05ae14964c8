package udp

import (
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
)

// The system refuses the runs of one peer: this one goes without the offload for a while, and is then tried again with
// one run. All others go on.
func TestRefusalsAreOfOnePeer(t *testing.T) {
	refused := func(errno syscall.Errno) error { return os.NewSyscallError("sendmsg", errno) }
	sender, receiver := listenLocal(t), listenLocal(t)
	narrow := Key{port: netip.MustParseAddrPort("192.0.2.1:9")}
	to := receiver.LocalAddr().(*net.UDPAddr).AddrPort()
	run := func(to Key) *Run { return &Run{Data: make([]byte, 2000), Size: 1000, To: Addr{Key: to}} }
	for _, errno := range []syscall.Errno{syscall.EINVAL, syscall.EIO} {
		o := offload{works: true}
		for range 100 {
			o.note(narrow, refused(errno))
			if err := o.write(sender, run(AddrOf(to).Key), nil, to); err != nil {
				t.Fatalf("another peer: %v", err)
			}
			if o.why == nil {
				t.Fatal("nothing says that one peer goes without")
			}
		}
		for i := range pausedRuns {
			if err := o.write(sender, run(narrow), nil, to); err != errNoOffload {
				t.Fatalf("run %d of the pause: %v", i, err)
			}
		}
		if err := o.write(sender, run(narrow), nil, to); err != nil || o.why != nil {
			t.Errorf("after the pause: %v, %v", err, o.why)
		}
	}
	o := offload{works: true}
	for _, errno := range []syscall.Errno{syscall.EMSGSIZE, syscall.ECONNREFUSED} {
		if o.note(narrow, refused(errno)); len(o.paused) > 0 || o.why != nil {
			t.Errorf("%v is no refusal of a run", errno)
		}
	}
	for i := range 10 * mostPaused {
		o.note(Key{port: netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), uint16(i))}, refused(syscall.EINVAL))
	}
	if len(o.paused) > mostPaused {
		t.Errorf("%d peers are remembered", len(o.paused))
	}
}
