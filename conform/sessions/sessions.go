// Package sessions declares the operations of a client and a server of sessions (CXO-7 to CXO-10), and
// has their machines: the product's and the oracle's.
package sessions

import "github.com/chunkwire/chunkwire/conform"

// Client is the operation session_client (CXO-7, CXO-8).
var Client = &conform.Op{
	Name:   "session_client",
	Doc:    "a trace of a client, which begins at the first event",
	Config: usualClient(),
	Events: []conform.Kind{
		{Name: "poll", Of: Poll{}, Doc: "polled until no datagram comes"},
		{Name: "receive", Of: Receive{}, Doc: "a datagram arrives"},
		{Name: "data", Of: Data{}, Doc: "a valid datagram of the link arrived"},
		{Name: "sent", Of: Sent{}, Doc: "a datagram of the link was sent; no event of the table"},
		{Name: "move", Of: Move{}, Doc: "the address of the client may be another one"},
		{Name: "close", Of: Close{}, Doc: "the application closes"},
	},
	Step:    ClientStep{},
	Words:   clientWords,
	Product: newProductClient, Oracle: newOracleClient,
}

// Server is the operation session_server (CXO-9, CXO-10).
var Server = &conform.Op{
	Name:   "session_server",
	Doc:    "a trace of a server",
	Config: usualServer(),
	Events: []conform.Kind{
		{Name: "poll", Of: Poll{}, Doc: "all entries are polled"},
		{Name: "receive", Of: ReceiveFrom{}, Doc: "a datagram arrives from an address"},
		{Name: "data", Of: DataOf{}, Doc: "a valid datagram of a link arrived from its address"},
		{Name: "end", Of: End{}, Doc: "the layer above ends a connection"},
	},
	Step:    ServerStep{},
	Words:   serverWords,
	Product: newProductServer, Oracle: newOracleServer,
}

// Config is what a client offers, or a server agrees to.
type Config struct {
	Protocol   int64         `json:"protocol" range:"0 4294967295"`
	Mode       string        `json:"mode" in:"crc mac aead"`
	Lanes      int64         `json:"lanes" range:"0 16"`
	Variants   int64         `json:"variants" range:"1 255"`
	Extensions int64         `json:"extensions" range:"0 65535"`
	Timeout    int64         `json:"timeout" range:"10 36000" doc:"in units of 100 ms"`
	Format     conform.Bytes `json:"format" size:"8 8"`
	Random     conform.Bytes `json:"random" doc:"the random bytes, in the order in which they are drawn"`
}

// ClientConfig sets up a client.
type ClientConfig struct {
	Identity conform.Bytes `json:"identity" size:"8 8"`
	Key      conform.Bytes `json:"key" size:"32 32"`
	Server   conform.Bytes `json:"server,omitempty" size:"32 32" doc:"the key of the server; it has none if it is absent"`
	Config
}

// ServerConfig sets up a server.
type ServerConfig struct {
	Config
	Server         conform.Bytes `json:"server,omitempty" size:"32 32" doc:"the private one of its own key; it has none if it is absent"`
	Keys           []Key         `json:"keys"`
	Anonymous      bool          `json:"anonymous"`
	MaxConnections int64         `json:"max_connections" range:"1 16777216"`
	MaxPerAddress  int64         `json:"max_per_address" range:"1 16777216"`
}

// Key is the key of an identity.
type Key struct {
	Identity conform.Bytes `json:"identity" size:"8 8"`
	Key      conform.Bytes `json:"key" size:"32 32"`
}

type (
	// Poll polls either machine.
	Poll struct{}
	// Receive gives a client a datagram.
	Receive struct {
		Hex conform.Bytes `json:"hex"`
	}
	// Data reports to a client that a valid datagram of its link arrived.
	Data struct{}
	// Sent reports to a client that a datagram of its link was sent.
	Sent struct{}
	// Move starts a new handshake for the same link.
	Move struct{}
	// Close closes a client.
	Close struct{}
	// ReceiveFrom gives a server a datagram.
	ReceiveFrom struct {
		From string        `json:"from" doc:"the address, as text"`
		Hex  conform.Bytes `json:"hex"`
	}
	// DataOf reports to a server that a valid datagram of a link arrived.
	DataOf struct {
		Link int64 `json:"link"`
	}
	// End ends a connection of a server.
	End struct {
		Link   int64 `json:"link"`
		Reason int64 `json:"reason" range:"1 9"`
	}
)

// ClientStep is what a client did.
type ClientStep struct {
	Rows      []string                     `json:"rows" pattern:"^I[0-9]+$"`
	State     string                       `json:"state" in:"LINKING OPEN RELINKING CLOSED"`
	Refused   conform.Opt[conform.Refused] `json:"refused"`
	Datagrams []conform.Bytes              `json:"datagrams"`
	Link      conform.Opt[Link]            `json:"link" doc:"at the step that makes it"`
	Ended     conform.Opt[Ended]           `json:"ended"`
	Deadline  conform.Opt[int64]           `json:"deadline"`
}

// Link is a link that was made.
type Link struct {
	Link       int64         `json:"link"`
	Lanes      int64         `json:"lanes"`
	Variant    int64         `json:"variant"`
	Extensions int64         `json:"extensions"`
	Timeout    int64         `json:"timeout"`
	Sealed     conform.Bytes `json:"sealed" doc:"the first datagram, with the body 00"`
}

// Ended is why a client is CLOSED.
type Ended struct {
	Why    string `json:"why" in:"timeout refused closed"`
	Reason int64  `json:"reason" doc:"0 for none"`
	Proven bool   `json:"proven"`
}

// ServerStep is what a server did.
type ServerStep struct {
	Rows     []string                     `json:"rows" pattern:"^J[0-9]+$" doc:"of entries"`
	Refused  conform.Opt[conform.Refused] `json:"refused"`
	Answer   conform.Opt[conform.Bytes]   `json:"answer"`
	Counted  conform.Opt[string]          `json:"counted" in:"cookie stale_cookie share"`
	Entry    conform.Opt[Entry]           `json:"entry" doc:"whose LINKED is the answer, or to which data or an end happened"`
	Living   int64                        `json:"living"`
	Ended    int64                        `json:"ended"`
	Deadline conform.Opt[int64]           `json:"deadline"`
}

// Entry is an entry of a server.
type Entry struct {
	Link    int64                      `json:"link"`
	State   string                     `json:"state" in:"UNCONFIRMED CONFIRMED ENDED"`
	Address conform.Bytes              `json:"address"`
	Sealed  conform.Opt[conform.Bytes] `json:"sealed" doc:"the first datagram of a new link, with the body 00"`
}
