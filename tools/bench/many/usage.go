//go:build linux

package main

import (
	"encoding/json"
	"os"
	"runtime"
	"syscall"
	"time"
)

// figures are what a process has done and used so far.
type figures struct {
	Address      string
	User, System time.Duration // for the latest order
	Heap         int64         // objects, after a collection
	Stacks       int64

	Datagrams   int64 // that were given to the socket
	DatagramsIn int64
	Bytes       int64 // UDP payload that was given to the socket
	Slices      int64 // that were sent
	Resent      int64
	Failed      int64 // datagrams that the system did not take

	Took            time.Duration // of the latest order
	Median, Slowest time.Duration // when half of the clients, and all, had everything

	count func(*figures)
}

// add adds the figures of another process.
func (f *figures) add(o *figures) { f.combine(o, 1) }

// subtract leaves the counts since then.
func (f *figures) subtract(o *figures) {
	user, system := f.User, f.System
	f.combine(o, -1)
	f.User, f.System = user, system // are of one order
}

func (f *figures) combine(o *figures, sign int64) {
	for _, c := range []struct{ to, from *int64 }{
		{&f.Heap, &o.Heap}, {&f.Stacks, &o.Stacks}, {&f.Datagrams, &o.Datagrams}, {&f.DatagramsIn, &o.DatagramsIn}, {&f.Bytes, &o.Bytes},
		{&f.Slices, &o.Slices}, {&f.Resent, &o.Resent}, {&f.Failed, &o.Failed},
		{(*int64)(&f.User), (*int64)(&o.User)}, {(*int64)(&f.System), (*int64)(&o.System)},
	} {
		*c.to += sign * *c.from
	}
}

// measure does an order, and notes what it costs.
func (f *figures) measure(do func() error) error {
	user, system := processorTime()
	began := time.Now()
	err := do()
	f.Took = time.Since(began)
	f.User, f.System = processorTime()
	f.User -= user
	f.System -= system
	return err
}

// report prints the figures for the process that started this one.
func (f *figures) report() error {
	if f.count != nil {
		f.count(f)
	}
	f.Heap, f.Stacks = memoryInUse()
	return json.NewEncoder(os.Stdout).Encode(f)
}

// processorTime returns what the process has used so far, user and system.
func processorTime() (user, system time.Duration) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}

// memoryInUse returns the bytes of objects, and of stacks.
func memoryInUse() (heap, stacks int64) {
	runtime.GC()
	runtime.GC() // what is in a pool needs two
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.StackInuse)
}
