package config

import (
	"fmt"
	"math"
	"strconv"
)

// Rate is a share of wrong labels, 0 to below 1, given or estimated before the first step. Run files hold the estimate.
type Rate struct {
	Share float64
	Auto  bool // to be estimated
}

// GivenRate returns a given rate.
func GivenRate(share float64) Rate { return Rate{Share: share} }

// Auto is the word in files and flags for a choice that is left to the run.
const Auto = "auto"

// UnmarshalText parses a rate. The struct that contains the rate checks whether it is below 1.
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

// Given returns the noise rate; ok is false until it is estimated.
func (r Rate) Given() (share float64, ok bool) { return r.Share, !r.Auto }

// getShareOrUnknown returns the noise rate, or a negative number, which filters refuse, until the rate is estimated.
func (r Rate) getShareOrUnknown() float64 {
	if r.Auto {
		return -1
	}
	return r.Share
}

// String returns the rate as written in files.
func (r Rate) String() string {
	if r.Auto {
		return Auto
	}
	return strconv.FormatFloat(r.Share, 'g', -1, 64)
}

// NeedsRate reports whether the run has a rate to estimate. Without a filter, audits of the run use the rate.
func (c *Run) NeedsRate() bool {
	return c.Filter.Rate.Auto || c.Peers.Rate.Auto && c.HasPeers()
}

// SetRate sets the rates that are to be estimated.
func (c *Run) SetRate(estimate float64) {
	if c.Filter.Rate.Auto {
		c.Filter.Rate = GivenRate(estimate)
	}
	if c.Peers.Rate.Auto && c.HasPeers() {
		c.Peers.Rate = GivenRate(estimate)
	}
}
