module github.com/chunkwire/chunkwire/metrics/prometheus

go 1.26.0

require github.com/chunkwire/chunkwire v0.0.0

require github.com/prometheus/client_golang v1.25.0 // indirect

replace github.com/chunkwire/chunkwire => ../..
