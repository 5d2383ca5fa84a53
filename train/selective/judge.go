package selective

import (
	"winnow/features"
	"winnow/head"
)

// judge is head and classifier as the running epoch began: what it says of the whole set is not kept but computed
// from them, also by a run that is resumed within the epoch.
type judge struct {
	head       *head.Head
	classifier head.Classifier
	epoch      int // judged last; -1: none
}

func newJudge(l *Learner) (judge, error) {
	h, err := copyHead(l.head, "judge.")
	return judge{head: h, classifier: head.NewClassifier("judge.", l.classes, l.head.Config().Out, classifierLength), epoch: -1}, err
}

// copyHead returns a head of the same weights, named otherwise.
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

func (j *judge) params() []*features.Param {
	return append(j.head.Params(), j.classifier.Params()...)
}

// consider judges the set where a step (from 1) is the first of its epoch, or the first of a resumed run.
func (j *judge) consider(l *Learner, step int) error {
	epoch := (step - 1) / l.cfg.Epoch
	if epoch == j.epoch {
		return nil
	}
	if (step-1)%l.cfg.Epoch == 0 {
		now := l.Params()
		for i, p := range j.params() {
			copy(p.Data, now[i].Data)
		}
	}
	j.epoch = epoch
	return l.method.consider(j, epoch)
}

// embed returns the judge's view of a set: unit rows and given labels.
func (j *judge) embed(set features.Set) (features.Set, error) {
	z, err := j.head.Embed(set.X)
	return features.Set{X: z, Labels: set.Labels, IDs: set.IDs}, err
}
