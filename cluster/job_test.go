package cluster

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
)

// joined is a result that prints the names of its rows.
type joined []string

func (j joined) Write(w io.Writer) error {
	_, err := io.WriteString(w, strings.Join(j, " "))
	return err
}

// naming is a job that names rows, two at a time.
var naming = Job[[]string]{Name: "name", Unit: "rows", Merge: func(_ context.Context, w *Whole,
	values iter.Seq2[[]string, error], _ JoinOptions) (Result, error) {
	list, err := All(values)
	if len(list) > 0 && len(list) != w.Total/2 {
		return nil, errors.New("found other values than those put")
	}
	return joined(slices.Concat(list...)), err
}}

func name(first, end int, put func([]string) error) error {
	for ; first < end; first += 2 {
		if err := put([]string{strconv.Itoa(first), strconv.Itoa(first + 1)}); err != nil {
			return err
		}
	}
	return nil
}

// A join merges the values of all parts in the order of the rows, whatever the number of parts.
func TestJob(t *testing.T) {
	rows := Rows{Total: 20, Batch: 2, Inputs: map[string]string{"list": "abc"}, Winnow: "v1"}
	var want joined
	for i := range 20 {
		want = append(want, strconv.Itoa(i))
	}
	o := JoinOptions{Note: func(string, ...any) {}, Progress: func(int, int) {}}
	for _, of := range []int{1, 3, 10} {
		out := location.At(t.TempDir() + "/out")
		for i := of; i > 0; i-- {
			for again := range 2 {
				m, err := naming.Do(t.Context(), out, Shard{Index: i, Of: of}, rows, name)
				if err != nil || m.Complete != (again == 1) {
					t.Fatal(m, err)
				}
			}
		}
		got, err := Join(t.Context(), out, []Joiner{counting, naming}, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d parts: %s", of, diff)
		}
		if _, err := Join(t.Context(), out, []Joiner{counting}, o); err == nil ||
			!strings.Contains(err.Error(), "expected one of count") {
			t.Error(err)
		}
		w, err := lookForParts(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Unchanged(map[string]string{"list": "abc"}); err != nil {
			t.Error(err)
		}
		if err := w.Unchanged(map[string]string{"list": "abd"}); err == nil ||
			!strings.Contains(err.Error(), "list changed since the parts of "+out.String()+" were made") {
			t.Error(err)
		}
		for range naming.Values(w) {
			break // the rest is not read
		}
		if _, err := All(Job[int]{}.Values(w)); err == nil ||
			!strings.Contains(err.Error(), "another version of winnow?") {
			t.Error(err)
		}
	}
	elsewhere := location.At(t.TempDir() + "/out")
	if _, err := naming.Do(t.Context(), elsewhere, Shard{Index: 1, Of: 11}, rows, name); err == nil ||
		!strings.Contains(err.Error(), "at most 10 shards") {
		t.Error(err)
	}
}
