package check

import "runtime"

// Heap returns how many bytes on the heap are in use.
func Heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what has a finalizer, or is in a pool, needs two
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
