package udp

import (
	"net"
	"os"
	"syscall"
	"testing"
)

// A device that cannot do it turns the offload off at once. A run that the kernel
// refuses may have to do with one peer; many in a row probably do not, and after a pause it is
// tried again, with one run.
func TestOffloadIsTurnedOff(t *testing.T) {
	call := func(errno syscall.Errno) error { return os.NewSyscallError("sendmsg", errno) }
	for _, c := range []struct {
		name  string
		first error // of 15 runs
		then  error // of one more
		works bool
	}{
		{"EIO", nil, call(syscall.EIO), false},
		{"EINVAL once", nil, call(syscall.EINVAL), true},
		{"EINVAL each time", call(syscall.EINVAL), call(syscall.EINVAL), false},
		{"EINVAL, then a success", call(syscall.EINVAL), nil, true},
		{"EMSGSIZE each time", call(syscall.EMSGSIZE), call(syscall.EMSGSIZE), true},
		{"ECONNREFUSED each time", call(syscall.ECONNREFUSED), call(syscall.ECONNREFUSED), true},
	} {
		o := offload{works: true}
		for range mostRefused - 1 {
			o.note(c.first)
		}
		o.note(c.then)
		if (o.why == nil) != c.works {
			t.Errorf("after %s the reason is %v", c.name, o.why)
		}
		if works := o.works && o.pause == 0; works != c.works {
			t.Errorf("after %s the offload works: %v", c.name, works)
		}
	}
	o := offload{works: true}
	for i := range 100 {
		o.note([]error{call(syscall.EINVAL), nil}[i%2])
	}
	if !o.works || o.pause > 0 {
		t.Error("one narrow path among others turned the offload off")
	}
	sender, run := listenLocal(t), &Run{Data: make([]byte, 2000), Size: 1000}
	to := sender.LocalAddr().(*net.UDPAddr).AddrPort()
	for _, still := range []bool{true, false} {
		o.refused = mostRefused - 1
		o.note(call(syscall.EINVAL))
		for i := range pausedRuns {
			if err := o.write(sender, run, nil, to); err != errNoOffload {
				t.Fatalf("run %d of the pause: %v", i, err)
			}
		}
		if still {
			o.note(call(syscall.EINVAL))
			if o.pause != pausedRuns || o.why == nil {
				t.Error("one more refusal does not begin another pause")
			}
			o.pause = 0
		} else if err := o.write(sender, run, nil, to); err != nil || o.why != nil {
			t.Errorf("after the pause: %v, %v", err, o.why)
		}
	}
}
