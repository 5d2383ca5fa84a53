package parts

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
		if err := w.Parts[i].Read(func(r io.Reader) error { return gob.NewDecoder(r).Decode(&list[i]) }); err != nil {
			return nil, fmt.Errorf("%w: was it made by another version of winnow?", err)
		}
	}
	return list, nil
}
