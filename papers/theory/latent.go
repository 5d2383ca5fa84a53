package theory

// Latent holds the shares of the true configurations of triplets whose given labels are anchor = positive ≠ negative.
// The five shares sum to 1.
type Latent struct {
	Clean        float64 // anchor = positive ≠ negative
	AllSame      float64 // anchor = positive = negative
	AllDifferent float64 // three different classes
	Inverted     float64 // anchor = negative ≠ positive
	Other        float64 // positive = negative ≠ anchor
}

// latentTriplet returns the shares of the true configurations under label noise p over K classes.
//
// A sample with given label y has the true class y with probability c = 1-p, and each other class with probability
// e = p/(K-1), independently of other samples. The shares follow by summing over the classes. 000 section 4 lists all
// same, all different and inverted, and omits Other.
func latentTriplet(p float64, classes int) Latent {
	others := float64(classes - 1)
	c, e := 1-p, p/others
	same := c*c + others*e*e            // anchor = positive: both labels are y
	across := 2*c*e + (others-1)*e*e    // anchor = negative, or positive = negative: labels y and y'
	all := c*e*(c+e) + (others-1)*e*e*e // all three of one class: y, y' or another class
	return Latent{
		Clean:   same - all,
		AllSame: all,
		// equals 1 minus the other shares, but without cancellation
		AllDifferent: (others - 1) * ((c+(others-1)*e)*(2*c*e+(others-2)*e*e) + others*e*e*e),
		Inverted:     across - all,
		Other:        across - all,
	}
}

// falsePositivePrinted returns P_FP as printed in 004, with τ²/(C-1)²; see [Describe].
func falsePositivePrinted(tau float64, classes int) float64 {
	others := float64(classes - 1)
	return 1 - (1-tau)*(1-tau) - tau*tau/(others*others)
}

// falseNegativePrinted returns P_FN as printed in 004, with τ²/(C-2)². For two classes it is NaN or infinite.
func falseNegativePrinted(tau float64, classes int) float64 {
	c := float64(classes)
	return 2*tau*(1-tau)/(c-1) + tau*tau/((c-2)*(c-2))
}
