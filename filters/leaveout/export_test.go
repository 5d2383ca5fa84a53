package leaveout

// Usual returns the usual squared lengths of the means, which are those of all images.
func (s *Set) Usual() []float64 { return s.means.Usual }
