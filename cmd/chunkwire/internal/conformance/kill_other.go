//go:build !unix

package conformance

import "os/exec"

// killWithChildren does nothing on systems without process groups: there, the
// end of a command's context ends the command alone.
func killWithChildren(*exec.Cmd) {}
