package regular

// Outage is an error of the place that files lie in and not of a file: a server that does not answer, or refuses its service. What
// passes over unreadable files stops at it.
type Outage struct{ Err error }

// Error implements error.
func (o *Outage) Error() string { return o.Err.Error() }

// Unwrap returns what happened.
func (o *Outage) Unwrap() error { return o.Err }
