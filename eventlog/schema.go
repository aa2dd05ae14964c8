package eventlog

import _ "embed"

// Schema is the JSON schema of the records of events.
//
//go:embed schema.json
var Schema []byte
