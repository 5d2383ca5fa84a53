package reproduce

// charts draws the study as it asks.
func (r *Results) charts() []pageChart { return nil }
