// Package vectortest lets Go tests put vectors to the reference port: those of the
// port, and of the packages that the vectors are about.
package vectortest

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/port"
	"github.com/chunkwire/chunkwire/testvectors/runner"
)

// Replay puts all vectors of these groups to the port.
func Replay(t *testing.T, groups ...string) {
	t.Helper()
	files, err := testvectors.LoadGroups(groups...)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		t.Run(f.Group, func(t *testing.T) {
			for _, v := range f.Vectors {
				if err := runner.Check(v, port.Answer); err != nil {
					t.Errorf("%s: %s\n%v", v.Name, v.Comment, err)
				}
			}
		})
	}
}
