// Package learn learns from people's decisions about labels. Given the vectors, the given labels, an audit's list and
// the decisions so far, it computes for each image how likely its label is wrong, and chooses what to show next. It
// uses no page, no file and no truth; winnow audit, winnow studio and its simulation use it.
//
//	l, err := learn.New(ctx, learn.EvidenceOf(list, classes, vectors))
//	state := l.Learn(decisions)              // a pure function of evidence and decisions
//	review := learn.NewReview(l)             // or in batches, as people decide:
//	review.Add(decision)
//	order := review.Order()                  // show these next
//
// A [State] never changes and may be read by several goroutines; [Learner.Learn] may be called by one at a time, as in
// the background while people decide. It is incremental: decisions that continue those of the call before cost only
// what is new. The same evidence and the same decisions in the same order give the same state, to the bit, in any
// process; taking a decision back is learning from the decisions without it.
//
// # Learning
//
// Two experts predict y, 1 if the label is wrong, for an image x:
//
//	audited   logit p₀ = a + b·s           s = log odds of the audit that the label is wrong, b > 0
//	learned   logit p₁ = w·φ(x)            regression with a prior at the audit's opinion
//
// φ holds s and the rank, the neighbours' agreement with the given and the suggested label, how strange the image is,
// whether its copies contradict each other, its leading principal components, the given class, the suggested class and
// their pair, and what people decided about images like it: with the kernel k = exp((cos - 1)/h) over the decided j
//
//	(Σ k·(y_j - p_j)) / (Σ k + 1)                    of all of them, and of those with the same given label
//	log (Σ k·[true_j = given] + ½)/(Σ k·[true_j ≠ given] + ½)   true_j: the label that people chose
//
// where p_j is the audit's probability. An image's own decision is left out of its own φ. The weights minimise
// Σ log loss + Σ (w-w°)²·λ/2, w° being 1 for s and 0 for all else. The first expert keeps the order of the audit's
// list, so that it finds errors exactly as fast as the list. The experts are mixed on the logit scale with the weights
//
//	exp(L₁) : exp(L₀),  L = Σ log likelihood of decisions by what the expert said before each (prequential)
//
// so that the mixture follows the list wherever learning did not pay. Sources: Dawid, Present position and potential
// developments: the prequential approach, JRSS-A 1984; Vovk, Aggregating strategies, COLT 1990 (exponential weights).
//
// # Several reviewers
//
// An image is wrong or right if more than half of the reviewers who were sure say so. With a tie it is open: it counts
// as undecided.
package learn
