package plain

// signal is something that can be waited for. It makes its channel when somebody
// does: most connections idle, and their channels would be a fifth of their
// memory. It needs a lock.
type signal struct{ c chan struct{} }

// wait returns a channel that is closed when the signal is next given.
func (s *signal) wait() <-chan struct{} {
	if s.c == nil {
		s.c = make(chan struct{})
	}
	return s.c
}

// give wakes all that wait.
func (s *signal) give() {
	if s.c != nil {
		close(s.c)
		s.c = nil
	}
}

// given is the channel of something that has happened.
var given = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
