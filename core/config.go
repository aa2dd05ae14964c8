package core

import (
	"errors"
	"fmt"
)

// ErrConfig is what every error about a bad configuration wraps, in all packages.
var ErrConfig = errors.New("bad configuration")

// ConfigError returns an error that wraps ErrConfig and says which field is
// wrong, what it holds and what is allowed.
func ConfigError(field string, got any, allowed string) error {
	return fmt.Errorf("%w: %s is %v, allowed is %s", ErrConfig, field, got, allowed)
}
