// Package learn learns from people's decisions about labels. Given the vectors, the given labels, an audit's list and
// the decisions so far, it says for each image how likely its label is wrong, chooses what to show next, and counts how
// many labels are wrong in all. It knows no page, no file and no truth; winnow review and its simulation both use it.
//
//	l, err := learn.New(ctx, learn.EvidenceOf(list, classes, vectors))
//	state := l.Learn(decisions)              // a pure function of evidence and decisions
//	questions := state.Next(20, learn.Find, learn.Showing{}) // show these; store each question with its decision
//	count := state.Count()                   // wrong in all, and left, each with intervals
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
// # Counting
//
// Images shown for being suspect say nothing of the others. So some images are drawn at random ([Draw]). Draw t takes
// one of the n_t undecided images U_t, image i with probability p_ti, Σ_i p_ti = 1; f_ti is its predicted probability
// of being wrong, and g_ti the prediction shrunk by what earlier draws showed it to be worth: the slope, from 0, of a
// regression of y on it. All are computed from decisions before t. Let i be the drawn image and D_t the images decided
// before. Then
//
//	T_t = Σ_{j∈D_t} y_j + Σ_{j∈U_t} g_tj + (y_i - g_ti)/p_ti
//
// has the expectation θ = Σ_j y_j, the number of wrong labels, whatever g is: E[(y_i-g_ti)/p_ti] = Σ_{U_t} (y_j-g_tj).
// p is uniform, 1/n_t, until the predictions are proven: ten draws found a wrong and ten a right label, and the slope
// exceeds 0 by three standard errors. Then half of p is √(g(1-g)), which is best if g is right (Neyman). Intervals:
//
//   - By counting alone. The uniform draws are wrong with the probability r_t(θ) = (θ - Σ_{D_t} y_j)/n_t. The interval
//     holds the θ for which the score Σ (y_t - r_t)/(n_t·r_t(1-r_t)) lies within 1.96 standard deviations of 0 (Rao,
//     1948; if nothing was decided before, the interval of Wilson, [Share]). If fewer than ten draws found a wrong or
//     a right label, it holds the θ for which the number w of wrong ones is not surprising: P(W < w) + P(W = w)/2 lies
//     between 2.5 and 97.5 % (mid-P; Lancaster, JASA 1961), where W is a sum of independent draws.
//   - By prediction, if ten draws found a wrong and ten a right label: the normal interval of the martingale
//     Σ w_t(T_t - θ). In T_t of uniform draws λ·f stands for g, where λ, 0 to 1, makes the variance least (power
//     tuning; Angelopoulos & al., PPI++, 2023). w_t is 1 over the variance expected. The variance is Σ q_t, where
//     q_t = w_t²·(T_t - θ̂)², or Σ w_t²·v_t, v_t = Σ g(1-g)/p, if that is larger, and the quantile that of Student's
//     t with 2·(Σ q_t)²/Σ q_t² - 1 degrees of freedom (Hall & Heyde, Martingale limit theory, 1980, chapter 3).
//   - For every promise to stop, a confidence sequence, valid at all times at once, so that people may look after
//     every decision: T_t lies between bounds [L_t, H_t] known before the draw, and for the true θ the wealth of bets
//     Π (1 + c·(T_t-θ)/(θ-L_t)) and Π (1 + c·(θ-T_t)/(H_t-θ)), 0 < c < 1, averaged over a few c, exceeds 2/α with a
//     probability of at most α/2 each (Ville). The interval holds the θ that win neither.
//
// [State.Count] gives the interval by prediction if it is the narrower one, else that by counting alone: predictions
// never make it wider. All are cut to what is certain: at least the labels found wrong, at most the images less those
// found right. A draw from other undecided images than those of this list does not count, as one from the shorter list
// of an earlier audit.
//
// Sources: Horvitz & Thompson, JASA 1952; Kossen & al., Active testing, ICML 2021; Angelopoulos & al.,
// Prediction-powered inference, Science 2023; Zrnic & Candès, Active statistical inference, ICML 2024; Waudby-Smith &
// Ramdas, Estimating means of bounded random variables by betting, JRSS-B 2024 (the hedged capital process, with a
// mixture over c in place of a predictable bet).
//
// # Several reviewers
//
// An image is wrong or right if more than half of the reviewers who were sure say so. With a tie it is open: it counts
// as undecided, may be drawn again, and its draw says nothing. So two reviewers who err now and then do not bias the
// count. Decisions of [Import] teach, and are certain about their own images, but nothing is known of why these were
// chosen, so they never stand for others.
package learn
