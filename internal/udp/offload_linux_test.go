package udp

import (
	"os"
	"syscall"
	"testing"
)

// A device that cannot do it turns the offload off at once. A run that the kernel
// refuses may have to do with one peer; many in a row do not.
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
		if o.works != c.works {
			t.Errorf("after %s the offload works: %v", c.name, o.works)
		}
	}
	o := offload{works: true}
	for i := range 100 {
		o.note([]error{call(syscall.EINVAL), nil}[i%2])
	}
	if !o.works {
		t.Error("one narrow path among others turned the offload off")
	}
}
