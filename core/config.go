package core

import (
	"errors"
	"fmt"
)

// ErrConfig is what every error about a bad configuration wraps, in all packages.
var ErrConfig = errors.New("bad configuration")

// FieldError wraps ErrConfig and names the field, what it holds and what is allowed.
type FieldError struct {
	Field   string
	Got     any
	Allowed string
}

// ConfigError returns a FieldError. Times become a time.Duration, as callers set them.
func ConfigError(field string, got any, allowed string) error {
	if m, ok := got.(Micros); ok {
		got = m.Duration()
	}
	return &FieldError{field, got, allowed}
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%v: %s is %v, allowed is %s", ErrConfig, e.Field, e.Got, e.Allowed)
}

// Unwrap returns ErrConfig.
func (e *FieldError) Unwrap() error { return ErrConfig }
