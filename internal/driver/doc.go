// Package driver runs connections over a socket: it is what package transport and
// package transport/plain have in common.
//
// A [Driver] has two goroutines, however many connections it has. The reader takes
// datagrams from the socket and gives them to the [Protocol]. The driver sleeps
// until a connection has something to send, collects it and writes it to the socket. While it
// sleeps the reader sends what became due by what it has read, since that wakes nobody. While a write blocks a timer lets the protocol end
// connections whose time is over.
//
// One mutex guards a Driver and all its connections; methods that need it end in
// Locked. The protocol's machines are under the same mutex.
package driver
