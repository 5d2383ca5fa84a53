package cluster

import (
	"encoding/gob"
	"fmt"
	"io"
)

// MakeValue returns what a job that keeps one value gives to [Make].
func MakeValue[T any](compute func() (T, error)) func(io.Writer) error {
	return func(w io.Writer) error {
		v, err := compute()
		if err != nil {
			return err
		}
		return gob.NewEncoder(w).Encode(v)
	}
}

// Values reads the value of every part, in their order.
func Values[T any](w *Whole) ([]T, error) {
	list := make([]T, len(w.Parts))
	for i := range w.Parts {
		v, err := Value[T](&w.Parts[i])
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, nil
}

// Value reads the value of a part. Fields that T does not have are passed over.
func Value[T any](p *Part) (v T, err error) {
	if err := p.Read(func(r io.Reader) error { return gob.NewDecoder(r).Decode(&v) }); err != nil {
		return v, fmt.Errorf("%w: was it made by another version of winnow?", err)
	}
	return v, nil
}
