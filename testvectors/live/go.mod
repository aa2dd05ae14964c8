module github.com/chunkwire/chunkwire/testvectors/live

go 1.25.0

require github.com/chunkwire/chunkwire v0.0.0

require (
	github.com/google/go-cmp v0.7.0 // indirect
	golang.org/x/crypto v0.54.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
)

replace github.com/chunkwire/chunkwire => ../../
