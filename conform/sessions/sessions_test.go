package sessions_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/testvectors/conformtest"
)

func TestVectors(t *testing.T) { conformtest.Vectors(t, sessions.Client, sessions.Server) }
