package regular

// Outage is an error of the storage, not of a file: a server does not answer or refuses its service. Loops that
// skip unreadable files stop at it.
type Outage struct{ Err error }

// Error implements error.
func (o *Outage) Error() string { return o.Err.Error() }

// Unwrap returns the cause.
func (o *Outage) Unwrap() error { return o.Err }
