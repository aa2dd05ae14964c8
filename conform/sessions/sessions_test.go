package sessions_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/testvectors/conformtest"
)

func TestVectors(t *testing.T) { conformtest.Vectors(t, sessions.Client, sessions.Server) }

func TestScripts(t *testing.T) {
	conformtest.Scripts(t, sessions.Client, "session-client")
	conformtest.Scripts(t, sessions.Server, "session-server")
}
