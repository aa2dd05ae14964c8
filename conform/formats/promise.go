package formats

import (
	"bytes"
	"reflect"

	"github.com/chunkwire/chunkwire/conform/layout"
)

// This file holds the packages to what they promise besides values and bytes. A promise that is broken
// is a refusal that no layout has.

func broken(promise string) error { return &layout.Fault{Code: promise, At: -1} }

// refused is what a decoder returned that promises to return nothing with a refusal.
func refused(v layout.Values, from any, err error) (layout.Values, error) {
	if err != nil && !reflect.ValueOf(from).IsZero() {
		return nil, broken("it refuses, and returns something")
	}
	return v, err
}

// encoder is an encoder of a package, with what the package says besides.
type encoder struct {
	dst    []byte
	append func(dst []byte) ([]byte, error)
	check  func() error // of the fields alone; or nil
	size   func() int   // that it foretells; nil: it does not
	spares bool         // of what is refused nothing is written, not even behind the buffer
}

// room is what stands behind a buffer.
var room = bytes.Repeat([]byte{0xA5}, 1<<12)

// encoded is the output of an encoder. It appends the same to a buffer that has room, in which what was
// there stays; so does all if it refuses.
func (e encoder) encoded() ([]byte, error) {
	b, err := e.append(e.dst)
	n, buffer := len(e.dst), append(bytes.Clone(e.dst), room...)
	again, err2 := e.append(buffer[:n])
	switch {
	case (err == nil) != (err2 == nil), len(again) < n, !bytes.Equal(again[:n], e.dst):
		return nil, broken("a buffer with room makes a difference")
	case err != nil && (len(b) != n || len(again) != n || e.spares && !bytes.Equal(buffer[n:], room)):
		return nil, broken("it refuses, and writes something")
	case e.check != nil && (e.check() == nil) != (err == nil):
		return nil, broken("its check says something else")
	case err != nil:
		return nil, err
	case !bytes.Equal(again, b):
		return nil, broken("it writes something else into a buffer with room")
	case e.size != nil && e.size() != len(b)-n:
		return nil, broken("the size that it foretells is another")
	}
	return b, nil
}

// behind appends to a buffer that holds something already.
func (e encoder) behind() ([]byte, error) {
	e.dst = room[:7:7]
	b, err := e.encoded()
	return b[min(len(b), len(e.dst)):], err
}
