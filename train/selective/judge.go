package selective

import (
	"winnow/features"
	"winnow/head"
)

// judge holds copies of head and classifier from the start of the current epoch. The method's scores for the whole
// set are computed from these copies and not stored: a run resumed within the epoch computes them again. If a backbone
// learns, judge also stores the embedding of the set.
type judge struct {
	head       *head.Head      // nil if z is stored
	z          *features.Param // the training set at the start of the epoch
	classifier head.Classifier
	epoch      int // the epoch for which the set was last scored; -1: no epoch yet
}

func newJudge(l *Learner) (judge, error) {
	if l.live != nil {
		dim := l.head.Config().Out
		return judge{z: features.NewParam("judge.z", l.set.Len(), dim),
			classifier: head.NewClassifier("judge.", l.classes, dim, classifierLength), epoch: -1}, nil
	}
	h, err := copyHead(l.head, "judge.")
	return judge{head: h, classifier: head.NewClassifier("judge.", l.classes, l.head.Config().Out, classifierLength),
		epoch: -1}, err
}

// copyHead returns a copy of a head, with a prefix added to the names of its parameters.
func copyHead(h *head.Head, prefix string) (*head.Head, error) {
	var values [][]float32
	for _, p := range h.Params() {
		values = append(values, append([]float32(nil), p.Data...))
	}
	c, err := head.Restore(h.Config(), values)
	if err != nil {
		return nil, err
	}
	for _, p := range c.Params() {
		p.Name = prefix + p.Name
	}
	return c, nil
}

func (j *judge) judgeParams() []*features.Param {
	if j.z != nil {
		return append([]*features.Param{j.z}, j.classifier.Params()...)
	}
	return append(j.head.Params(), j.classifier.Params()...)
}

// considerStep scores the labels of the set if a step (from 1) is the first of its epoch or of a resumed run.
func (j *judge) considerStep(l *Learner, step int) error {
	epoch := (step - 1) / l.cfg.Epoch
	if epoch == j.epoch {
		return nil
	}
	// The second stage keeps the scores from its start.
	if (step-1)%l.cfg.Epoch == 0 && !(l.cfg.isSecondStage(epoch) && l.cfg.isSecondStage(epoch-1)) {
		if err := j.copyWeights(l); err != nil {
			return err
		}
	}
	j.epoch = epoch
	return l.method.considerEpoch(j, epoch)
}

// copyWeights copies the learner's current weights into the judge. If a backbone learns, it also embeds the set.
func (j *judge) copyWeights(l *Learner) error {
	from, now := j.judgeParams(), l.headParams()
	if j.z != nil {
		z, err := l.live.Embed()
		if err != nil {
			return err
		}
		for i := range z.Len() {
			copy(features.Row(j.z.Matrix(), i), z.Row(i))
		}
		from, now = from[1:], l.classifier.Params()
	}
	for i, p := range from {
		copy(p.Data, now[i].Data)
	}
	return nil
}

// embedSet returns the judge's embedding of the set: unit rows with their given labels.
func (j *judge) embedSet(set features.Set) (features.Set, error) {
	if j.z != nil {
		return features.Set{X: j.z.Matrix(), Labels: set.Labels, IDs: set.IDs}, nil
	}
	z, err := j.head.Embed(set.X)
	return features.Set{X: z, Labels: set.Labels, IDs: set.IDs}, err
}
