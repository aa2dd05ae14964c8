package driver

// Signal is something that can be waited for. It makes its channel when somebody
// does: most connections idle, and their channels would be a fifth of their
// memory. It needs a lock.
type Signal struct{ c chan struct{} }

// Wait returns a channel that is closed when the signal is next given.
func (s *Signal) Wait() <-chan struct{} {
	if s.c == nil {
		s.c = make(chan struct{})
	}
	return s.c
}

// Give wakes all that wait.
func (s *Signal) Give() {
	if s.c != nil {
		close(s.c)
		s.c = nil
	}
}

// Given is the channel of something that has happened.
var Given = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
