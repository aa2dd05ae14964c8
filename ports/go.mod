module github.com/chunkwire/chunkwire/ports

go 1.25
