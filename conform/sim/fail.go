package sim

// Fail reports that a promise is broken, as the Fatalf of a test does.
type Fail func(format string, args ...any)
