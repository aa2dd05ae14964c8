//go:build packed

package testvectors

import (
	"archive/zip"
	_ "embed"
	"io/fs"
	"strings"
)

// packed are the files, as tools/release/check packs them.
//
//go:embed files.zip
var packed string

func source() fs.FS {
	files, err := zip.NewReader(strings.NewReader(packed), int64(len(packed)))
	if err != nil {
		panic(err) // the program was built wrong
	}
	return files
}
