package spec

import "embed"

// Files are the specifications as data: one JSON file a document, and their schema.
//
//go:embed *.json
var Files embed.FS
