package leaveout

// Usual returns the usual squared lengths of the means over all images.
func (s *Set) Usual() []float64 { return s.means.Usual }
