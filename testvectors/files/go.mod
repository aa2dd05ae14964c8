module github.com/chunkwire/chunkwire/testvectors/files

go 1.25
