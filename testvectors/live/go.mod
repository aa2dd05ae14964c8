module github.com/chunkwire/chunkwire/testvectors/live

go 1.25.0

require github.com/chunkwire/chunkwire v0.0.0

replace github.com/chunkwire/chunkwire => ../../
