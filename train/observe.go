package train

import "slices"

// Observer receives the facts of a training as they happen: a [Step], [Validation], [Diagnosis], [Weighing] or
// [Metric]. Slices in them are valid until it returns. An error stops the training.
type Observer func(fact any) error

// On returns an observer that calls see for facts of type F and ignores other facts; see may be nil.
func On[F any](see func(F)) Observer {
	if see == nil {
		return nil
	}
	return func(fact any) error {
		if f, ok := fact.(F); ok {
			see(f)
		}
		return nil
	}
}

// Together returns an observer that passes every fact to all observers of a list. Observers may be nil. If all of them
// are nil, Together returns nil, so that the trainer need not create facts.
func Together(list ...Observer) Observer {
	list = slices.DeleteFunc(slices.Clone(list), func(see Observer) bool { return see == nil })
	if len(list) == 0 {
		return nil
	}
	return func(fact any) error {
		for _, see := range list {
			if err := see(fact); err != nil {
				return err
			}
		}
		return nil
	}
}

// reportFact passes a fact to the observer, then to the journal.
func (t *Trainer) reportFact(fact any) error {
	if t.Observe != nil {
		if err := t.Observe(fact); err != nil {
			return err
		}
	}
	if t.journal == nil {
		return nil
	}
	return t.journal.writeFact(fact)
}
