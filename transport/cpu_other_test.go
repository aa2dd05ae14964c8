//go:build !unix

package transport_test

import (
	"time"
)

// cpu returns 0: the processor time of the process is not known.
func cpu() time.Duration { return 0 }
