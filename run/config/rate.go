package config

import (
	"fmt"
	"math"
	"strconv"
)

// Rate is a share of wrong labels, from 0 to below 1, or one that the run estimates before the first step: it uses and records the
// estimate.
type Rate struct {
	Share float64
	Auto  bool // to be estimated
}

// GivenRate returns a rate that is given.
func GivenRate(share float64) Rate { return Rate{Share: share} }

// Auto is how files and flags write a choice that is left to the run.
const Auto = "auto"

// UnmarshalText reads a rate; whether a number is a share is for its owner to check.
func (r *Rate) UnmarshalText(text []byte) error {
	if string(text) == Auto {
		*r = Rate{Auto: true}
		return nil
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return fmt.Errorf("found %q, expected a share from 0 to below 1, or %s", text, Auto)
	}
	*r = GivenRate(v)
	return nil
}

// Given returns the share; ok is false while it is to be estimated.
func (r Rate) Given() (share float64, ok bool) { return r.Share, !r.Auto }

// told returns the share, or a number that no filter takes while it is to be estimated.
func (r Rate) told() float64 {
	if r.Auto {
		return -1
	}
	return r.Share
}

// String returns the rate as it stands in a file.
func (r Rate) String() string {
	if r.Auto {
		return Auto
	}
	return strconv.FormatFloat(r.Share, 'g', -1, 64)
}

// NeedsRate reports whether the run has a rate to estimate. A run without a filter, too: an audit of it reads the filter's.
func (c *Run) NeedsRate() bool {
	return c.Filter.Rate.Auto || c.Peers.Rate.Auto && c.HasPeers()
}

// SetRate puts an estimate where one is asked for.
func (c *Run) SetRate(estimate float64) {
	if c.Filter.Rate.Auto {
		c.Filter.Rate = GivenRate(estimate)
	}
	if c.Peers.Rate.Auto && c.HasPeers() {
		c.Peers.Rate = GivenRate(estimate)
	}
}
