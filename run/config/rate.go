package config

import (
	"fmt"
	"math"
	"strconv"
)

// Rate is a share of wrong labels that a person has given, from 0 to below 1, or [AutoRate].
type Rate float64

// AutoRate is a rate that is estimated from the data when the run begins; what is run and written down is the
// estimate. No filter takes it itself.
const AutoRate Rate = -1

// autoWord is how AutoRate is written.
const autoWord = "auto"

// UnmarshalText reads a rate; whether a number is a share is for its owner to check.
func (r *Rate) UnmarshalText(text []byte) error {
	if string(text) == autoWord {
		*r = AutoRate
		return nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return fmt.Errorf("found %q, expected a share from 0 to below 1, or %s", text, autoWord)
	}
	*r = Rate(v)
	return nil
}

// String returns the rate as it stands in a file.
func (r Rate) String() string {
	if r == AutoRate {
		return autoWord
	}
	return strconv.FormatFloat(float64(r), 'g', -1, 64)
}

// NeedsRate reports whether the run has a rate to estimate. A run without a filter, too: an audit of it reads the filter's.
func (c *Run) NeedsRate() bool {
	return c.Filter.Rate == AutoRate || c.Peers.Rate == AutoRate && c.HasPeers()
}

// SetRate puts an estimate where one is asked for.
func (c *Run) SetRate(estimate float64) {
	if c.Filter.Rate == AutoRate {
		c.Filter.Rate = Rate(estimate)
	}
	if c.Peers.Rate == AutoRate && c.HasPeers() {
		c.Peers.Rate = Rate(estimate)
	}
}
