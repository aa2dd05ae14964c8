// Package connectionsim runs whole connections of package connection over simulated networks: a
// server and its clients, with addresses that change, restarts and forgers. A judge knows what
// was sent and what was read.
package connectionsim
