package regular

// Outage is an error of the storage rather than of one file: a server does not respond or refuses service. Loops that
// skip unreadable files stop at an Outage.
type Outage struct{ Err error }

// Error implements error.
func (o *Outage) Error() string { return o.Err.Error() }

// Unwrap returns the cause.
func (o *Outage) Unwrap() error { return o.Err }
