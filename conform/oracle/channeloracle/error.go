package channeloracle

// The codes with which a sender refuses a message (rows D1, D2 and D11).
const (
	MessageSize = "message_size"
	QueueFull   = "queue_full"
	Failed      = "failed"
)
