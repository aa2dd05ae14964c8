package sim

import (
	"reflect"

	"github.com/google/go-cmp/cmp"
)

// Fail reports a difference between a machine and its model, as the Fatalf of a test does.
type Fail func(format string, args ...any)

// Same compares what a machine and its model say.
func (fail Fail) Same(what string, got, model any) {
	if !reflect.DeepEqual(got, model) {
		fail("%s (-model +machine):\n%s", what, cmp.Diff(model, got))
	}
}
