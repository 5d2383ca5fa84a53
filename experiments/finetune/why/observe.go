package main

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/head"
	"winnow/papers/runner"
	"winnow/run"
	"winnow/run/tuning"
	"winnow/train"
)

const (
	lookedAt = 4 // steps between two looks into the bank
	ageBin   = 8 // steps
)

// watched is a backbone whose encoder passes its vectors to an observer.
type watched struct {
	tuning.Backbone
	o *observer
}

func (w watched) Encoder(ctx context.Context, h *head.Head, in tuning.Input) (tuning.Encoder, error) {
	e, err := w.Backbone.Encoder(ctx, h, in)
	if err != nil {
		return nil, err
	}
	return &encoder{e, w.o}, w.o.open(ctx, w.Backbone, h, in)
}

type encoder struct {
	tuning.Encoder
	o *observer
}

func (e *encoder) Forward(rows []int) (features.Set, error) {
	z, err := e.Encoder.Forward(rows)
	if err == nil && e.o.begun {
		e.o.forward(rows, z)
	}
	return z, err
}

func (e *encoder) Backward(dz blas32.General) error {
	if e.o.begun {
		e.o.backward(dz)
	}
	return e.Encoder.Backward(dz)
}

// Announce and State call those of the encoder, if it has them.
func (e *encoder) Announce(rows []int) {
	if a, ok := e.Encoder.(train.Announced); ok {
		a.Announce(rows)
	}
}

func (e *encoder) State() []*features.Param {
	if s, ok := e.Encoder.(train.Stateful); ok {
		return s.State()
	}
	return nil
}

// observer follows a training. An epoch counts all training images, even if screening leaves some out, so that epochs
// of two trainings have equal steps.
type observer struct {
	ctx    context.Context
	d      *datasets.Dataset
	epoch  int // steps
	probed int // largest number of training images whose retrieval is measured after each epoch

	begun    bool // steps timed before the training do not count
	backbone tuning.Backbone
	head     *head.Head
	set      features.Set // the training images as stored
	start    features.Set // the same, embedded by the head before the first step
	step     int
	z        features.Set // a copy of the present step's vectors
	err      error

	last [][]float32 // newest vector of each row of the training set
	at   []int       // step of that vector
	bank *features.Bank

	drift map[[2]int]mean // by epoch and age in bins
	own   map[int]*copies // by epoch
	wrong float64         // share of the present step's gradient

	firstViews func(start, seen features.Set, rows []int) // may be nil: called in the first step

	filter *runner.Filter
	plan   run.Plan
	out    map[string][][]string
	unseen map[int]float64 // by epoch
	choice *choices        // nil: validation's choices are not recorded
}

type mean struct {
	sum float64
	n   int
}

// copies counts an image's own older vectors among its positives in the bank.
type copies struct {
	rows, members, own, positives, nearest int
	pullOwn, pull                          float64
}

// open is called when the encoder is ready.
func (o *observer) open(ctx context.Context, b tuning.Backbone, h *head.Head, in tuning.Input) (err error) {
	o.ctx, o.backbone, o.head, o.set = ctx, b, h, in.Train
	o.start, err = h.EmbedSet(ctx, in.Train)
	if err != nil {
		return err
	}
	o.last, o.at = make([][]float32, in.Train.Len()), make([]int, in.Train.Len())
	for i := range o.last {
		o.last[i] = o.start.Row(i)
	}
	o.drift, o.own, o.out, o.unseen = map[[2]int]mean{}, map[int]*copies{}, map[string][][]string{}, map[int]float64{}
	o.filter = runner.NewFilter(o.d, nil, 1)
	return nil
}

// begin gets the plan when everything is built.
func (o *observer) begin(plan run.Plan) error {
	o.plan, o.begun = plan, true
	if size := plan.Config.Bank.Size; size > 0 {
		o.bank = features.NewBank(size, o.start.Dim(), len(o.set.Labels))
		if plan.Config.Bank.Fill { // as in package run
			var rows []int
			for _, row := range train.Rand(plan.Config.Seed, "bank", 0).Perm(o.set.Len()) {
				if o.set.Labels[row] >= 0 && len(rows) < size {
					rows = append(rows, row)
				}
			}
			o.bank.Push(o.start.Rows(rows))
		}
	}
	if u := plan.Untrained; u != nil {
		frozen := o.set.Rows(features.AllRows(o.set.Len()))
		if err := features.Normalize(frozen.X); err != nil {
			return err
		}
		seen, err := o.retrieval(frozen)
		if err != nil {
			return err
		}
		o.out["retrieval"] = append(o.out["retrieval"], line(-1, seen, u.Frozen))
	}
	return o.measure(0)
}

// now returns the epoch of the present step, from 1.
func (o *observer) now() int { return (o.step-1)/o.epoch + 1 }

func (o *observer) forward(rows []int, z features.Set) {
	o.step++
	if o.step == 1 && o.firstViews != nil {
		o.firstViews(o.start, z, rows)
	}
	o.z = z.Rows(features.AllRows(z.Len()))
	for i, row := range rows {
		age := o.step - o.at[row]
		if age > 0 { // an image can be in a batch twice
			key := [2]int{o.now(), (age - 1) / ageBin}
			m := o.drift[key]
			o.drift[key] = mean{m.sum + features.Dot(o.z.Row(i), o.last[row]), m.n + 1}
		}
		o.last[row], o.at[row] = o.z.Row(i), o.step
	}
	if o.bank != nil && o.bank.Len() > 0 && o.step%lookedAt == 1 {
		o.look()
	}
}

// look compares the batch with the bank before the step.
func (o *observer) look() {
	c := o.own[o.now()]
	if c == nil {
		c = new(copies)
		o.own[o.now()] = c
	}
	members := o.bank.Set()
	s := features.NewMatrix(o.z.Len(), members.Len())
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, o.z.X, members.X, 0, s)
	for i := range o.z.Len() {
		if o.z.Labels[i] < 0 {
			continue
		}
		nearest, at := math.Inf(-1), -1
		for j, v := range features.Row(s, i) {
			if float64(v) > nearest {
				nearest, at = float64(v), j
			}
			if members.Labels[j] != o.z.Labels[i] {
				continue
			}
			c.positives++
			c.pull += 1 - float64(v)
			if members.IDs[j] == o.z.IDs[i] {
				c.own++
				c.pullOwn += 1 - float64(v)
			}
		}
		c.rows++
		if members.IDs[at] == o.z.IDs[i] {
			c.nearest++
		}
	}
	c.members += o.z.Len() * members.Len()
}

func (o *observer) backward(dz blas32.General) {
	var all, wrong float64
	for i := range dz.Rows {
		row := features.Row(dz, i)
		length := math.Sqrt(features.Dot(row, row))
		all += length
		if s := o.d.Samples[o.z.IDs[i]]; s.True >= 0 && s.Label != s.True {
			wrong += length
		}
	}
	o.wrong = wrong / max(all, 1e-30)
}

func (o *observer) stepped(s train.Step) {
	o.filter.Step(s.Number, s.IDs, s.Kept, s.Scores, s.Unjudged, s.Judge)
	if o.bank != nil {
		o.bank.Push(o.z.Rows(s.Kept))
	}
	if len(s.Pulls) == 2 {
		a, b, both := s.Pulls[0], s.Pulls[1], s.Pull
		o.out["pulls"] = append(o.out["pulls"], line(float64(s.Number)/float64(o.epoch), a, b,
			(both*both-a*a-b*b)/(2*a*b), o.wrong))
	}
	if s.Number%o.epoch == 0 && o.err == nil {
		o.err = o.measure(s.Number / o.epoch)
	}
}

func (o *observer) validated(v train.Validation) { o.unseen[v.Step/o.epoch] = v.Score }

func (o *observer) diagnosed(d train.Diagnosis) {
	if k := d.Kappa; k != nil {
		o.out["kappa"] = append(o.out["kappa"], line(float64(d.Step)/float64(o.epoch), k.Q1, k.Median, k.Q3))
	}
}

// measure measures the retrieval of training images with the network's present state; validation reports its result
// later.
func (o *observer) measure(epoch int) error {
	set := o.probe(o.set)
	now, err := o.backbone.Now(o.ctx, set)
	if err != nil {
		return err
	}
	z, err := o.head.EmbedSet(o.ctx, now)
	if err != nil {
		return err
	}
	r, err := eval.Retrieve(o.ctx, z, nil, eval.RetrievalOptions{K: []int{1}})
	o.out["retrieval"] = append(o.out["retrieval"], append(line(float64(epoch), r.PrecisionAt1), ""))
	if o.choice == nil || err != nil {
		return err
	}
	if now, err = o.backbone.Now(o.ctx, o.choice.set); err != nil {
		return err
	}
	if z, err = o.head.EmbedSet(o.ctx, now); err == nil {
		o.choice.see(z)
	}
	return err
}

// probe returns some of the training images, with their true labels.
func (o *observer) probe(set features.Set) features.Set {
	each := (set.Len() + o.probed - 1) / o.probed
	var rows, labels []int
	for i := 0; i < set.Len(); i += each {
		rows, labels = append(rows, i), append(labels, o.d.Samples[set.IDs[i]].True)
	}
	set = set.Rows(rows)
	set.Labels = labels
	return set
}

func (o *observer) retrieval(z features.Set) (float64, error) {
	r, err := eval.Retrieve(o.ctx, o.probe(z), nil, eval.RetrievalOptions{K: []int{1}})
	return r.PrecisionAt1, err
}

// end completes the tables.
func (o *observer) end() map[string][][]string {
	for i, l := range o.out["retrieval"] {
		if v, ok := o.unseen[i-1]; ok && l[2] == "" {
			o.out["retrieval"][i] = append(l[:2], line(v)...)
		}
	}
	if o.choice != nil {
		o.out["choice"] = o.choice.table()
	}
	right, part, of := 0, 0, 0 // right labels; labels that take part; right ones among these
	for i, id := range o.set.IDs {
		s := o.d.Samples[id]
		if s.True == s.Label {
			right++
		}
		if o.set.Labels[i] >= 0 {
			part++
			if s.True == s.Label {
				of++
			}
		}
	}
	n := float64(len(o.set.IDs))
	told := math.NaN()
	if o.plan.Config.Filter.Scorer != "none" {
		told = o.plan.Config.Filter.Rate.Share
	}
	o.out["filter"] = append(o.out["filter"], line(0, told, float64(right)/n, float64(part)/n,
		float64(of)/float64(part), float64(of)/float64(right)))
	for e := 1; (e-1)*o.epoch < o.step; e++ {
		var s runner.Step
		for _, x := range o.filter.Steps {
			if (x.Step-1)/o.epoch+1 == e {
				s.Right, s.Wrong, s.Kept, s.Clean = s.Right+x.Right, s.Wrong+x.Wrong, s.Kept+x.Kept, s.Clean+x.Clean
			}
		}
		rows := float64(s.Right + s.Wrong)
		o.out["filter"] = append(o.out["filter"], line(float64(e), told, float64(s.Right)/rows, float64(s.Kept)/rows,
			float64(s.Clean)/float64(s.Kept),
			float64(s.Clean)/float64(s.Right)*float64(of)/float64(right)))
		for age := 0; age <= o.step/ageBin; age++ {
			if m := o.drift[[2]int{e, age}]; m.n > 0 {
				o.out["drift"] = append(o.out["drift"],
					line(float64(e), (float64(age)+0.5)*ageBin, m.sum/float64(m.n), float64(m.n)))
			}
		}
		if c := o.own[e]; c != nil {
			rows := float64(c.rows)
			o.out["bank"] = append(o.out["bank"], line(float64(e), float64(c.members)/rows, float64(c.own)/rows,
				float64(c.positives)/rows, c.pullOwn/max(c.pull, 1e-30), float64(c.nearest)/rows))
		}
	}
	return o.out
}
