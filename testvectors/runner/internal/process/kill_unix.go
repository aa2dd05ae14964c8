//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// KillWithChildren makes the end of a command's context end what it started as
// well: a port is often started by a shell or by a tool that builds it.
func KillWithChildren(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
