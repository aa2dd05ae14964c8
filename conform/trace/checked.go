package trace

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// difference is a machine that differs from its model.
type difference string

func (d difference) Error() string { return string(d) }

// fail is a chunk.Fail whose panic differs recovers.
func fail(format string, args ...any) { panic(difference(fmt.Sprintf(format, args...))) }

func differs(err *error) {
	switch p := recover().(type) {
	case nil:
	case difference:
		*err = p
	default:
		panic(p)
	}
}

// CheckSender is RunSender for a sender beside its exact model, base algorithm and
// recommended scheduler included. It also fails where they differ.
func CheckSender(cfg contract.SenderConfig, events []contract.Event) (steps []contract.Step, err error) {
	script := &script{}
	c, err := senderConfig(cfg, script)
	if err != nil {
		return nil, err
	}
	var model statemachine.Scheduler
	switch {
	case cfg.Recovery != nil:
		model = NewRecoveryModel(*cfg.Recovery)
	case cfg.Profile != nil:
		model = chunk.NewBaseModel(profile(*cfg.Profile))
	}
	defer differs(&err)
	s, err := chunk.NewCheckedSender(c, model, fail)
	if err != nil {
		return nil, err
	}
	return runSender(s, script, hosts(c.Scheduler, model), events)
}

// CheckReceiver is RunReceiver for a receiver beside its exact model.
func CheckReceiver(cfg contract.ReceiverConfig, events []contract.Event) (steps []contract.Step, err error) {
	c, err := receiverConfig(cfg)
	if err != nil {
		return nil, err
	}
	defer differs(&err)
	r, err := chunk.NewCheckedReceiver(c, fail)
	if err != nil {
		return nil, err
	}
	return runReceiver(r, events)
}
