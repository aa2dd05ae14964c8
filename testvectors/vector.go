package testvectors

import "encoding/json"

// FormatVersion is the version of the format of the files. It changes when
// existing readers could no longer read them.
const FormatVersion = 1

// File is one file of vectors, a group.
type File struct {
	Format      int             `json:"format"`
	Group       string          `json:"group"`
	Description string          `json:"description"`
	License     string          `json:"license"` // always "CC0-1.0"
	Flags       map[string]Flag `json:"flags"`   // those that the file's vectors have
	Vectors     []Vector        `json:"vectors"`
}

// Flag explains a kind of mistake that vectors catch.
type Flag struct {
	Mistake string `json:"mistake"` // what a wrong implementation does
	Effect  string `json:"effect"`  // what comes of it
}

// Vector is a request of the port contract and the response that it must get,
// both without their id.
type Vector struct {
	Name      string          `json:"name"`      // "group/what-is-special", never given to another
	Comment   string          `json:"comment"`   // which mistake it catches, and how
	Flags     []string        `json:"flags"`     // keys of the file's flags
	Sentences []string        `json:"sentences"` // ids of the specification that it tests
	Level     Level           `json:"level"`
	Request   json.RawMessage `json:"request"`
	Response  json.RawMessage `json:"response"`
}

// Level is a vector's conformance level, one of Levels.
type Level string

// The levels.
const (
	Required     Level = "required"      // every implementation of the chunk protocol
	Recommended  Level = "recommended"   // one that follows its section 8.6 and appendix G (TRC-5)
	Optional     Level = "optional"      // one that has the scheduler of RECOVERY.md
	Repair       Level = "repair"        // code, packets and receiver of repair slices
	RepairSender Level = "repair-sender" // their sender, with a scripted scheduler
	RepairRule   Level = "repair-rule"   // the sender's rule

	RepairConnection Level = "repair-connection" // a connection whose lanes have repair slices

	Packets         Level = "packets"           // codec and congestion avoidance of the packet layer
	PacketsEndpoint Level = "packets-endpoint"  // its endpoint
	PacketsPath     Level = "packets-estimates" // what that knows of the path

	Channels         Level = "channels"          // records of channels, and their reports
	ChannelsReceiver Level = "channels-receiver" // the receiver of a reliable channel
	ChannelsSender   Level = "channels-sender"   // its sender

	Session            Level = "session"             // messages, envelope and keys of sessions
	SessionClient      Level = "session-client"      // the client of a session
	SessionServer      Level = "session-server"      // the server of a session
	Connection         Level = "connection"          // the records of a connection
	ConnectionEndpoint Level = "connection-endpoint" // one end of a connection
	ConnectionMoves    Level = "connection-moves"    // one that moves
	ConnectionMarks    Level = "connection-marks"    // one that has marks of congestion
	ConnectionClocks   Level = "connection-clocks"   // one that has clocks
)

// AboutLevel describes a level.
type AboutLevel struct {
	Name        Level  `json:"name"`
	Protocol    string `json:"protocol"`    // a level of each protocol can be passed without the others
	Description string `json:"description"` // who must pass it
}

// Accumulated is a long seeded run whose results are compared by one hash.
type Accumulated struct {
	Name      string   `json:"name"`
	Comment   string   `json:"comment"`
	Sentences []string `json:"sentences"`
	Seed      uint64   `json:"seed"`
	Packets   int      `json:"packets"`
	SHA256    string   `json:"sha256"`
}
