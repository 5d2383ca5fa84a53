// Package learn learns from reviewers' decisions about labels. From the vectors, the given labels, an audit's list and
// the decisions so far, it computes how likely each label is wrong, and it chooses the images to show next. It does no
// input or output and does not use true labels. winnow audit, winnow studio and the simulation of a review use it.
//
//	l, err := learn.New(ctx, learn.EvidenceOf(list, classes, vectors))
//	state := l.Learn(decisions)              // a pure function of evidence and decisions
//	review := learn.NewReview(l)             // or in batches, as people decide:
//	review.Add(decision)
//	order := review.Order()                  // show these next
//
// A [State] is immutable and safe for concurrent reads. [Learner.Learn] is not safe for concurrent use, but may run in
// the background while reviewers decide. It is incremental: if the decisions extend those of the previous call, only
// the new decisions cost time. The same evidence and the same decisions in the same order give bit-identical states in
// any process. To take a decision back, learn again from the decisions without it.
//
// # Learning
//
// Two experts predict y, 1 if the label is wrong, for an image x:
//
//	audited   logit p₀ = a + b·s           s = log odds of the audit that the label is wrong, b > 0
//	learned   logit p₁ = w·φ(x)            regression with a prior at the audit's opinion
//
// φ holds s and the rank, the neighbours' agreement with the given and the suggested label, how well the image fits the
// set, whether its duplicates contradict each other, its leading principal components, the given class, the suggested
// class, the pair of both, and what the decided images j teach about it:
//
//	Σ (y_j - p_j) / (Σ p_j(1-p_j) + 1)           over the j with the same given class, suggested class, and pair
//	Σ c_j(y_j - p_j) / (Σ c_j p_j(1-p_j) + 2)    over the 7 most similar j of the same given class; c_j: cosine
//	5 (cos(x, m_other) - cos(x, m_given))        m: mean of a class, in which j counts for the class that reviewers
//	                                             chose, and an undecided image for its given class, by 1 - p
//
// p_j is the audit's probability. The first four are a step of Newton's method towards the log odds of systematic
// mistakes. Other classes are the suggested one and the neighbours' one. An image's own decision is left out of its
// own φ. The weights minimise Σ log loss + Σ (w-w°)²·λ/2, where w° is 1 for s and 0 for all other weights. The first
// expert keeps the order of the audit's list, so that it finds errors as fast as the list. The experts are mixed on the
// logit scale with the weights
//
//	exp(L₁) : exp(L₀),  L = Σ log likelihood of each decision by the expert's prediction before it (prequential)
//
// so that the mixture follows the list if learning did not improve the predictions. Sources: Dawid, Present position
// and potential developments: the prequential approach, JRSS-A 1984; Vovk, Aggregating strategies, COLT 1990
// (exponential weights).
//
// # Several reviewers
//
// A label is settled as wrong or right if more than half of the sure reviewers agree. A tie leaves the label open.
package learn
