package judges

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"winnow/filters/leaveout"
)

// judgeFitted scores labels by class centres, as judgeByCentres does, with three things fitted to the set: the amount
// of whitening (λ in [metric]), the sharpness of similarities (β), and which classes are confused with each other
// ([channel]). All three maximise the likelihood of held-out labels: similarities leave each image out, and a channel
// is fitted to the other folds. The likelihood does not use the true labels. On sets with known true labels
// (experiments/audit) it picks the λ that finds most label errors, or the next λ in the list.
//
// To choose λ, the centre of an image's own class also leaves out the image's nearest neighbour. Otherwise, similar
// images that were mislabelled together predict each other's labels: too little whitening would be chosen, and these
// images would support each other (CUB-200, small clusters at 25 %: AP 0.821, with the neighbour left out 0.878).
//
// The channel also takes true similarity of classes for mistakes. So the verdict is the logarithmic pool of two
// opinions: under uniform noise and under the channel. The weight w of the channel rises with its gain, the mean log
// likelihood of a label that it adds, in nats:
//
//	w = gain/(gain + 0.1)
//
// If classes have like sizes, each then gets a noise rate of its own ([field.weighClassRates]). A score is the
// probability under the pool that the given label is right.
func (b *bench) judgeFitted() error {
	f, _, err := b.newWhitenedField(false)
	if err != nil {
		return err
	}
	v, w := b.judgeWithChannel(f)
	b.v.Uneven = weighChannelGain(w)
	return b.setVerdicts(f, v)
}

// pool holds for every image the log probabilities of its candidates and of the rest, up to a constant.
type pool struct{ candidates, rest []float32 }

func (f *field) newPool() pool { return pool{make([]float32, f.n*f.m), make([]float32, f.n)} }

// addWeighted adds others, multiplied by weight.
func (p pool) addWeighted(others pool, weight float64) {
	for i, v := range others.candidates {
		p.candidates[i] += float32(weight) * v
	}
	for i, v := range others.rest {
		p.rest[i] += float32(weight) * v
	}
}

// judgeWithChannel scores labels by a field and a channel fitted to it. It also returns the channel's weight.
func (b *bench) judgeWithChannel(f *field) (pool, float64) {
	l := newLearner(b.ctx, f, b.assignFolds(), b.opts.Folds)
	plain, without := l.sharpest()
	learned, with := l.chooseChannel(plain, without)
	b.gain = math.Max(b.gain, float64(f.n)*(math.Max(without, with)-f.computeChance()))
	all := f.newPool()
	w := (with - without) / (with - without + believed)
	if w < 1 {
		l.addPosteriors(all, plain, 1-w)
	}
	if w > 0 {
		l.addPosteriors(all, learned, w)
	}
	return all, w
}

// addPosteriors adds weight times the log posteriors under the channels with this setting.
func (l *learner) addPosteriors(all pool, set setting, weight float64) {
	l.visitPosteriors(set, func(i int, r []float64, others, _ float64) {
		for j, v := range r {
			all.candidates[i*l.f.m+j] += float32(weight * math.Log(math.Max(v, 1e-300)))
		}
		all.rest[i] += float32(weight * math.Log(math.Max(others, 1e-300)))
	})
}

// setVerdicts sets the verdicts from a pool.
func (b *bench) setVerdicts(f *field, all pool) error {
	if err := b.ctx.Err(); err != nil { // the fit is incomplete
		return err
	}
	if !leaveout.Uneven(f.countImages()) {
		f.weighClassRates(all, *b.v.Uneven)
	}
	b.concludeField(f, all.candidates, all.rest)
	if b.gain >= LeastGain(f.classes) {
		return nil
	}
	seen, err := b.neighboursTell()
	b.v.Blind = !seen
	return err
}

// limitCertainty returns for each class the largest probability of a label error that its images can show: 1 - 1/(n+2),
// Laplace's rule of succession, for a class of n images less than a third as large as the largest class, and 1 for
// others. A fit to the images of large classes is too sure about small ones. Classes of similar sizes need no limit:
// the fit to their labels has calibrated the probabilities. In a set of fewer than [FewImages] images, the limit of a
// small class is 1/2, so no such label is flagged: without it, 31 of 54 such labels were wrong in 80 sets of 54 to
// 60 images (docs/log, 2026-11).
func limitCertainty(images []float64) []float64 {
	most, largest, all := make([]float64, len(images)), slices.Max(images), floats.Sum(images)
	for k, n := range images {
		switch {
		case n >= largest/3:
			most[k] = 1
		case all < FewImages:
			most[k] = 0.5
		default:
			most[k] = 1 - 1/(n+2)
		}
	}
	return most
}

// FewImages is the number of images in a set from which labels of a class less than a third as large as the largest
// are flagged, or suggested with certainty.
const FewImages = 100

// weighChannelGain returns the gain of a channel that has the given weight.
func weighChannelGain(weight float64) *float64 {
	gain := believed * weight / (1 - weight)
	return &gain
}

// LeastGain returns by how much the log likelihood of held-out labels must exceed chance before labels are scored, in
// nats for all labels together. Fits to random labels (over λ, β, ρ, channels, mixtures with heads) stay below this
// bound in about 19 of 20 sets (docs/log, 2026-11). The bound rises with the number of classes because such fits gain
// more with more classes.
func LeastGain(classes int) float64 { return 1 + 3*math.Log(float64(classes)) }

// believed is the gain, in nats an image, at which a channel has the weight 1/2. With 0.1, the channel has little
// weight for small-cluster noise, where it gains 0.02 and misleads (CUB-200: AP 0.844 with the channel only, 0.885
// without it), and most of the weight for pair noise, where it gains 0.3 or more (0.901 and 0.851).
const believed = 0.1

// strengths holds the values of λ to try, in this order, until the gain is less than step nats a label.
var strengths = []float64{100, 10, 3, 1, 0.3, 0.1}

const step = 0.002

// λ is chosen on triedOn images, or on up to twice as many.
const triedOn = 1 << 16

// newWhitenedField returns the field for the best λ. With spared it also returns the similarity of each image to its
// own class, where the centre leaves out the image's nearest neighbour if the class has [many] images.
func (b *bench) newWhitenedField(spared bool) (f *field, own []float32, err error) {
	m, err := newMetric(b.ctx, b.s)
	if err != nil {
		return nil, nil, err
	}
	defer m.free()
	at, most := 0, math.Inf(-1)
	for try, lambda := range strengths {
		f, err := b.newMetricField(m, lambda, false, max(1, b.s.Z.Len()/triedOn)|1)
		if err != nil {
			return nil, nil, err
		}
		_, v := newLearner(b.ctx, f, nil, 0).sharpest()
		if v < most+step {
			break
		}
		at, most = try, v
	}
	if f, err = b.newMetricField(m, strengths[at], true, 1); err != nil || !spared {
		return f, nil, err
	}
	own = make([]float32, f.n)
	return f, own, m.visitSimilarities(b.ctx, strengths[at], false, 1, func(i, y int, row []float64) {
		if own[i] = f.fit[i*f.m+int(f.given[i])]; m.count[y] >= many {
			own[i] = float32(row[y])
		}
	})
}

// many is the least number of images of a class from which the nearest neighbour is left out. In a smaller class, a
// single image makes up a large part of the centre.
const many = 16

// newMetricField returns the field of every step-th image under a metric with the given λ.
func (b *bench) newMetricField(m *metric, lambda float64, twins bool, step int) (*field, error) {
	f, order := newField((b.s.Z.Len()+step-1)/step, len(b.s.Classes)), make([]int32, len(b.s.Classes))
	return f, m.visitSimilarities(
		b.ctx,
		lambda,
		twins,
		step,
		func(i, y int, row []float64) { f.storeSimilarities(i/step, y, row, order) },
	)
}

// concludeField sets the verdicts from the log probabilities of the candidates and of all other classes, and weights
// the classes by these probabilities.
func (b *bench) concludeField(f *field, pooled, rest []float32) {
	r, final, certain := make([]float64, f.m), make([][]leaveout.Part, f.n), limitCertainty(f.countImages())
	for i := range f.n {
		given, top := int(f.given[i]), float64(rest[i])
		for _, v := range pooled[i*f.m:][:f.m] {
			top = math.Max(top, float64(v))
		}
		others := 0.0
		if f.tail != nil {
			others = math.Exp(float64(rest[i]) - top)
		}
		best := given
		for j, v := range pooled[i*f.m:][:f.m] {
			if r[j] = math.Exp(float64(v) - top); j != given {
				others += r[j]
			}
			if v > pooled[i*f.m+best] {
				best = j
			}
		}
		odds := float64(pooled[i*f.m+given]) - top - math.Log(math.Max(others, 1e-300))
		all := r[given] + others
		for j, v := range r {
			final[i] = addShare(final[i], int(f.column[i*f.m+j]), v/all)
		}
		y, k := int(f.column[i*f.m+given]), int(f.column[i*f.m+best])
		most, share := math.Min(certain[y], certain[k]), r[best]/all
		if k != y {
			share = math.Min(share, most)
		}
		b.setVerdict(i, odds, math.Max(1/(1+math.Exp(-odds)), 1-most), k, share)
	}
	b.s.Share(final)
}
