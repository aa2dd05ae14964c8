package connection

import "github.com/chunkwire/chunkwire/core"

// Notice is what a handshake says to a connection. [Client] and [Server] do this themselves; it is for
// programs that have a handshake of their own and make connections by [NewConn].
type Notice int

// The notices. After NoticeMove a client sends nothing until NoticeMoved (CXL-16).
const (
	NoticeMove     Notice = iota // this end, a client, has another address
	NoticeMoved                  // the handshake was made again, from another address or after silence
	NoticeRelinked               // the same at a server, and the address is the one of before
	NoticeEnd                    // there is no such connection any more
)

// Notify gives a connection a notice at now. The error belongs to NoticeEnd: why it has ended.
func Notify(c *Conn, now core.Micros, n Notice, err error) {
	switch n {
	case NoticeMove:
		c.move(now)
	case NoticeMoved, NoticeRelinked:
		if c.relinked(now); n == NoticeMoved {
			c.forgetPath(now)
		}
	case NoticeEnd:
		c.end(now, err)
	}
}

// ReceiveNews is Conn.ReceiveECN, and reports whether the datagram shows that the other end hears
// this one: it acked a packet that none before acked (CXL-15).
func ReceiveNews(c *Conn, now core.Micros, datagram []byte, ecn ECN) (news bool, err error) {
	h, err := c.receive(now, datagram, ecn)
	return h.news, err
}
