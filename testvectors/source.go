//go:build !packed

package testvectors

import (
	"io/fs"
	"os"
	"path/filepath"
)

// source returns the folder testvectors of the repository around the working directory. The files are not part of
// the module: who imports a package would download 30 MB. Programs of a release have them inside (tag packed).
func source() fs.FS {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "testvectors", "files", "go.mod")); err == nil {
			return os.DirFS(filepath.Join(dir, "testvectors"))
		}
		dir = filepath.Dir(dir)
	}
	return absent{}
}

// absent is the source that has no files.
type absent struct{}

func (absent) Open(string) (fs.File, error) { return nil, ErrNoFiles }
