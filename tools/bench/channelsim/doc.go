// Package channelsim runs channels over an endpoint of the packet layer. A [Host] is what a driver makes of
// the two; a [Workload] is messages over a path that are measured in virtual time.
package channelsim
