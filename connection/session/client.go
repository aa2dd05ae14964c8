package session

import (
	"io"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/table"
)

// Client is the end that begins a connection (section 5). Its variables are in CXC-1. It
// does nothing between calls.
type Client struct {
	state ClientState
	row   core.Row
	now   core.Micros // the latest that was given, in microseconds (CXN-2, CXN-3)

	// What does not change.
	key    Key
	server Share // its key; zeros: it has none
	own    core.Micros
	keyLog KeyLog
	random io.Reader

	// The attempt to link.
	offer      Offer
	versions   Versions // of its LINK
	ours       ownShare // until the connection is made
	greeting   greeting
	meeting    meeting // with the LINKED that is being taken
	firstAt    core.Micros
	beganAt    core.Micros
	linkAt     core.Micros // when the next LINK is due
	challenges []challenge // oldest first
	provedAt   core.Micros // when the last PROOF went, of any nonce
	hint       *RefusedError
	hintAt     core.Micros

	// The connection.
	link      *Link
	keys      Keys // the resume key alone
	share     Share
	heardAt   core.Micros
	spoke     bool // a datagram of the link was sent since
	confirmed bool

	in    Message // that is being taken; lent to the actions
	out   []byte  // the datagram that a poll makes
	err   error
	stats ClientStats
}

// NewClient returns a client that begins to link at now. It fails with core.ErrConfig (CXP-2).
func NewClient(now core.Micros, cfg ClientConfig) (*Client, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	c := &Client{
		now: max(now, 0), key: cfg.Key, server: cfg.ServerKey, own: cfg.Timeout, keyLog: cfg.KeyLog, random: cfg.Random,
		offer: Offer{
			Protocol: cfg.Protocol, Mode: cfg.Mode, Lanes: cfg.Lanes, Variants: cfg.Variants, Extensions: cfg.Extensions,
			Timeout: cfg.Timeout, Format: cfg.Format, Identity: cfg.Identity,
		},
	}
	c.firstAt, c.provedAt = c.now, c.now-LinkSlow
	c.renew(clientInput{})
	return c, nil
}

// ClientState is the state of a Client.
type ClientState uint8

// The states of section 5 (CXC-2).
const (
	Linking   ClientState = iota // there is no connection yet
	Open                         // there is one
	Relinking                    // there is one that can have to go on at another address
	Closed                       // it is over

	clientStates = iota
)

func (s ClientState) String() string {
	return [...]string{"LINKING", "OPEN", "RELINKING", "CLOSED"}[s]
}

// The guards of section 5 (CXC-3). Of the guards of an event the first that holds counts.
var (
	clientGuards table.Guards

	timedOut       = clientGuards.Add("poll", "timed out")
	refusalStands  = clientGuards.Add("poll", "refusal stands")
	isSilent       = clientGuards.Add("poll", "silent")
	proofDue       = clientGuards.Add("poll", "PROOF due")
	linkDue        = clientGuards.Add("poll", "LINK due")
	nothingDue     = clientGuards.Add("poll", "otherwise")
	anyClientPoll  = clientGuards.Add("poll", table.Always)
	challengeIsNew = clientGuards.Add("challenge", "ours and new")
	challengeOther = clientGuards.Add("challenge", "otherwise")
	anyChallenge   = clientGuards.Add("challenge", table.Always)
	linkedRight    = clientGuards.Add("linked", "right")
	linkedOther    = clientGuards.Add("linked", "otherwise")
	anyLinked      = clientGuards.Add("linked", table.Always)
	refusedProven  = clientGuards.Add("refused", "proven")
	refusedHint    = clientGuards.Add("refused", "hint")
	refusedOther   = clientGuards.Add("refused", "otherwise")
	anyRefused     = clientGuards.Add("refused", table.Always)
	anyData        = clientGuards.Add("data", table.Always)
	anyMove        = clientGuards.Add("move", table.Always)
	anyClose       = clientGuards.Add("close", table.Always)
)

// clientInput is what an event gives to the actions.
type clientInput struct {
	message *Message
	err     error // for FAIL
}

type clientAction = table.Action[Client, clientInput]

// The actions of section 5.
var (
	failClient  = clientAction{Name: "FAIL", Do: func(c *Client, in clientInput) { c.err = in.err }}
	sendProof   = clientAction{Name: "PROVE", Do: (*Client).prove}
	sendLink    = clientAction{Name: "LINK", Do: (*Client).ask}
	take        = clientAction{Name: "TAKE", Do: (*Client).take}
	countClient = clientAction{Name: "COUNT", Do: func(c *Client, _ clientInput) { c.stats.Unexpected++ }}
	begin       = clientAction{Name: "BEGIN", Do: (*Client).begin}
	moved       = clientAction{Name: "MOVED", Do: (*Client).moved}
	noteHint    = clientAction{Name: "HINT", Do: (*Client).noteHint}
	renew       = clientAction{Name: "RENEW", Do: (*Client).renew}
	hearClient  = clientAction{Name: "HEAR", Do: (*Client).hear}
)

type clientTransition = table.Transition[ClientState, uint8, Client, clientInput]

// clientTable is every transition that there is (section 5).
var clientTable = table.New(clientStates, clientGuards, []clientTransition{
	{Row: "I1", From: Linking, If: timedOut, To: Closed, Do: []clientAction{failClient}},
	{Row: "I2", From: Linking, If: refusalStands, To: Closed, Do: []clientAction{failClient}},
	{Row: "I3", From: Linking, If: proofDue, To: Linking, Do: []clientAction{sendProof}},
	{Row: "I4", From: Linking, If: linkDue, To: Linking, Do: []clientAction{sendLink}},
	{Row: "I5", From: Linking, If: nothingDue, To: Linking},
	{Row: "I6", From: Linking, If: challengeIsNew, To: Linking, Do: []clientAction{take}},
	{Row: "I7", From: Linking, If: challengeOther, To: Linking, Do: []clientAction{countClient}},
	{Row: "I8", From: Linking, If: linkedRight, To: Open, Do: []clientAction{begin}},
	{Row: "I9", From: Linking, If: linkedOther, To: Linking, Do: []clientAction{countClient}},
	{Row: "I10", From: Linking, If: refusedProven, To: Closed, Do: []clientAction{failClient}},
	{Row: "I11", From: Linking, If: refusedHint, To: Linking, Do: []clientAction{noteHint}},
	{Row: "I12", From: Linking, If: refusedOther, To: Linking, Do: []clientAction{countClient}},
	{Row: "I13", From: Linking, If: anyMove, To: Linking, Do: []clientAction{renew}},
	{Row: "I14", From: Linking, If: anyClose, To: Closed},

	{Row: "I15", From: Open, If: timedOut, To: Closed, Do: []clientAction{failClient}},
	{Row: "I16", From: Open, If: isSilent, To: Relinking, Do: []clientAction{renew}},
	{Row: "I17", From: Open, If: nothingDue, To: Open},
	{Row: "I18", From: Open, If: anyChallenge, To: Open, Do: []clientAction{countClient}},
	{Row: "I19", From: Open, If: anyLinked, To: Open, Do: []clientAction{countClient}},
	{Row: "I20", From: Open, If: anyRefused, To: Open, Do: []clientAction{countClient}},
	{Row: "I21", From: Open, If: anyData, To: Open, Do: []clientAction{hearClient}},
	{Row: "I22", From: Open, If: anyMove, To: Relinking, Do: []clientAction{renew}},
	{Row: "I23", From: Open, If: anyClose, To: Closed},

	{Row: "I24", From: Relinking, If: timedOut, To: Closed, Do: []clientAction{failClient}},
	{Row: "I45", From: Relinking, If: refusalStands, To: Closed, Do: []clientAction{failClient}},
	{Row: "I25", From: Relinking, If: proofDue, To: Relinking, Do: []clientAction{sendProof}},
	{Row: "I26", From: Relinking, If: linkDue, To: Relinking, Do: []clientAction{sendLink}},
	{Row: "I27", From: Relinking, If: nothingDue, To: Relinking},
	{Row: "I28", From: Relinking, If: challengeIsNew, To: Relinking, Do: []clientAction{take}},
	{Row: "I29", From: Relinking, If: challengeOther, To: Relinking, Do: []clientAction{countClient}},
	{Row: "I30", From: Relinking, If: linkedRight, To: Open, Do: []clientAction{moved}},
	{Row: "I31", From: Relinking, If: linkedOther, To: Relinking, Do: []clientAction{countClient}},
	{Row: "I32", From: Relinking, If: refusedProven, To: Closed, Do: []clientAction{failClient}},
	{Row: "I33", From: Relinking, If: refusedHint, To: Relinking, Do: []clientAction{noteHint}},
	{Row: "I34", From: Relinking, If: refusedOther, To: Relinking, Do: []clientAction{countClient}},
	{Row: "I35", From: Relinking, If: anyData, To: Relinking, Do: []clientAction{hearClient}},
	{Row: "I36", From: Relinking, If: anyMove, To: Relinking, Do: []clientAction{renew}},
	{Row: "I37", From: Relinking, If: anyClose, To: Closed},

	{Row: "I38", From: Closed, If: anyClientPoll, To: Closed},
	{Row: "I39", From: Closed, If: anyChallenge, To: Closed},
	{Row: "I40", From: Closed, If: anyLinked, To: Closed},
	{Row: "I41", From: Closed, If: anyRefused, To: Closed},
	{Row: "I42", From: Closed, If: anyData, To: Closed},
	{Row: "I43", From: Closed, If: anyMove, To: Closed},
	{Row: "I44", From: Closed, If: anyClose, To: Closed},
})

// ClientTable returns the rows of the table.
func ClientTable() []core.Line { return clientTable.Lines() }

func (c *Client) step(guard uint8, in clientInput) {
	clientTable.Step(c, &c.state, &c.row, guard, in)
	if c.state == Closed {
		c.forget()
		c.keys = Keys{}
	}
}

// advance begins an event at now. A time before the latest one counts as that one (CXN-3).
func (c *Client) advance(now core.Micros) { c.now = max(c.now, now) }

// Poll appends the datagram to dst that the handshake sends now; ok says whether there is one.
// The driver polls until there is none (CXC-14).
func (c *Client) Poll(now core.Micros, dst []byte) (datagram []byte, ok bool) {
	c.advance(now)
	c.out = dst
	guard := c.pollGuard()
	c.step(guard, clientInput{err: c.failure(guard)})
	datagram, c.out = c.out, nil
	return datagram, guard == proofDue || guard == linkDue
}

// Receive takes a message of the handshake that arrived at now. It fails with why the message
// was refused, or was of no use; it then has changed only a counter.
func (c *Client) Receive(now core.Micros, datagram []byte) error {
	c.advance(now)
	m, err := Decode(datagram)
	if err != nil {
		c.stats.Refused++
		return err
	}
	c.in = m
	var guard uint8
	idle := c.state == Open || c.state == Closed
	switch c.in.Kind {
	case KindChallenge:
		guard = c.challengeGuard(&c.in, idle)
	case KindLinked:
		guard = c.linkedGuard(&c.in, idle)
	case KindRefused:
		guard = c.refusedGuard(&c.in, idle)
	default:
		c.stats.Unexpected++
		return notExpected.NotAt()
	}
	return c.takeMessage(guard)
}

// takeMessage takes the row for a message.
func (c *Client) takeMessage(guard uint8) error {
	in := clientInput{message: &c.in}
	if guard == refusedProven {
		in.err = c.refusal(&c.in, c.offer.Identity != 0)
	}
	c.step(guard, in)
	switch guard {
	case challengeIsNew, linkedRight, refusedProven, refusedHint:
		return nil
	}
	return notExpected.NotAt()
}

// Heard says that a datagram arrived at now that the Link opened.
func (c *Client) Heard(now core.Micros) {
	if c.link == nil {
		return
	}
	c.advance(now)
	c.step(anyData, clientInput{})
}

// Spoke says that a datagram of the Link was sent at now. A client that hears nothing for
// Silence after that links again.
func (c *Client) Spoke(now core.Micros) {
	c.advance(now)
	c.spoke = true
}

// Move says that the address of this end changed: a connection goes on there.
func (c *Client) Move(now core.Micros) {
	c.advance(now)
	c.step(anyMove, clientInput{})
}

// Close ends the client. The server is not told: that is for the layer above.
func (c *Client) Close(now core.Micros) {
	c.advance(now)
	c.step(anyClose, clientInput{})
}

// State returns the state.
func (c *Client) State() ClientState { return c.state }

// Row returns the row that was taken last; it is empty before the first event.
func (c *Client) Row() core.Row { return c.row }

// Link returns the envelope of the connection; nil before there is one.
func (c *Client) Link() *Link { return c.link }

// Confirmed reports whether a datagram of the link came. Until then the server cannot know
// that this end has the keys (CXC-15).
func (c *Client) Confirmed() bool { return c.confirmed }

// Err returns why the client ended by itself: an error that wraps ErrTimeout, or is a
// *RefusedError, or both. Nothing of it goes on (CXC-16).
func (c *Client) Err() error { return c.err }

// Stats returns the counts so far.
func (c *Client) Stats() ClientStats { return c.stats }
