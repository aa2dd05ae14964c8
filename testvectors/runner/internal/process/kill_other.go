//go:build !unix

package process

import "os/exec"

// KillWithChildren does nothing on systems without process groups: there, the
// end of a command's context ends the command alone.
func KillWithChildren(*exec.Cmd) {}
