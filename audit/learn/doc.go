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
// one of the undecided images U_t, image i with probability p_ti, Σ_i p_ti = 1, and g_ti is then the expected y_i. Both
// are computed from decisions before t. Let i be the drawn image and D_t the images decided before. Then
//
//	T_t = Σ_{j∈D_t} y_j + Σ_{j∈U_t} g_tj + (y_i - g_ti)/p_ti
//
// has the expectation Σ_j y_j, the number of wrong labels, whatever g is: E[(y_i-g_ti)/p_ti] = Σ_{U_t} (y_j-g_tj). The
// better g predicts, the less T_t varies. p is a mixture of √(g(1-g)), which is best if g is right (Neyman), and
// of the uniform draw, for when it is not. g shrinks the prediction by what earlier draws show it to be worth: the
// slope of a regression of y on it. If the model is worthless g is a constant, and T_t counts.
//
// The estimate is Σ w_t·T_t / Σ w_t. Before the draw, T_t is expected to vary by v_t = Σ g(1-g)/p, if g is right; the
// weight w_t is 1/u_t, where u_t adds to v_t the variance of counting, times 10/(10 + earlier draws). Intervals:
//
//   - If ten draws found a wrong and ten a right label, the normal interval of the martingale Σ w_t(T_t - θ), with the
//     variance Σ q_t, q_t = w_t²·(T_t - θ̂)², or Σ w_t²·v_t if that is larger, and the quantile of Student's t with
//     2·(Σ q_t)²/Σ q_t² - 1 degrees of freedom (Hall & Heyde, Martingale limit theory, 1980, chapter 3).
//   - Before, and for every promise to stop, a confidence sequence, valid at all times at once, so that people
//     may look after every decision: T_t lies between bounds [L_t, H_t] known before the draw, and for the true θ the
//     wealth of bets Π (1 + c·(T_t-θ)/(θ-L_t)) and Π (1 + c·(θ-T_t)/(H_t-θ)), 0 < c < 1, averaged over a few c,
//     exceeds 2/α with a probability of at most α/2 each (Ville). The interval holds the θ that win neither.
//
// Both are cut to what is certain: at least the labels found wrong, at most the images less those found right.
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
