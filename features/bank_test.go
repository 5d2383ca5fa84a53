package features

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// member is a vector of the reference bank, which is a plain list with the newest member last.
type member struct {
	row   []float32
	label int
	id    int
}

// compare checks a bank against the list of its members: order, counts, sums and centres.
func compare(b *Bank, want []member) string {
	set := b.Set()
	got := make([]member, 0, b.Len())
	for i := range b.Len() {
		at := i
		if b.Len() == b.Cap() {
			at = (b.next + i) % b.Cap()
		}
		got = append(got, member{set.Row(at), set.Labels[at], set.IDs[at]})
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(member{})); diff != "" {
		return "members (-want +got):\n" + diff
	}
	for k := range b.Classes() {
		sum, count := make([]float64, b.Dim()), 0
		for _, m := range want {
			if m.label == k {
				count++
				for j, v := range m.row {
					sum[j] += float64(v)
				}
			}
		}
		if b.Count(k) != count {
			return "a class has a wrong count"
		}
		for j, s := range sum {
			if math.Abs(b.Sum(k)[j]-s) > 1e-11 {
				return "a class has a wrong sum"
			}
			if math.Abs(float64(Row(b.Centres(), k)[j])-s/math.Max(1, float64(count))) > 1e-6 {
				return "a class has a wrong centre"
			}
		}
	}
	return ""
}

// randomSet draws n vectors with consecutive IDs starting at first.
func randomSet(r *rand.Rand, n, dim, classes, first int) Set {
	z := NewSet(n, dim)
	for i := range n {
		z.Labels[i], z.IDs[i] = r.IntN(classes), first+i
		for j := range z.Row(i) {
			z.Row(i)[j] = float32(r.NormFloat64())
		}
	}
	return z
}

func appendSet(list []member, z Set, capacity int) []member {
	for i := range z.Len() {
		list = append(list, member{slices.Clone(z.Row(i)), z.Labels[i], z.IDs[i]})
	}
	return list[max(0, len(list)-capacity):]
}

func TestBankIsAQueue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		capacity, dim, classes := rapid.IntRange(1, 12).Draw(rt, "capacity"), rapid.IntRange(1, 4).Draw(rt, "dim"),
			rapid.IntRange(1, 4).Draw(rt, "classes")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		b := NewBank(capacity, dim, classes)
		want, id := []member{}, 0
		for _, n := range rapid.SliceOfN(rapid.IntRange(0, 15), 1, 8).Draw(rt, "sizes") {
			z := randomSet(r, n, dim, classes, id)
			id += n
			b.Push(z)
			want = appendSet(want, z, capacity)
			if why := compare(b, want); why != "" {
				rt.Fatal(why)
			}
		}
	})
}

func TestDriftIsStopped(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	b := NewBank(20, 4, 2)
	var want []member
	push := func(times int) {
		for range times {
			z := randomSet(r, 5, 4, 2, 0)
			b.Push(z)
			want = appendSet(want, z, 20)
		}
	}
	push(10)
	b.Sum(0)[1] += 0.5 // more drift than occurs in practice
	push(1)
	if compare(b, want) == "" {
		t.Fatal("the drift was not there")
	}
	push(2*refreshAfter/5 + 10)
	if why := compare(b, want); why != "" {
		t.Error(why)
	}
	for k, n := range b.changes {
		if n > refreshAfter {
			t.Errorf("class %d has had %d changes since it was last summed", k, n)
		}
	}
}

func TestVersionsFollowTheirClass(t *testing.T) {
	b := NewBank(2, 1, 3)
	before := func() []uint64 { return slices.Clone(b.versions) }
	step := func(label int, want ...bool) {
		t.Helper()
		old := before()
		z := NewSet(1, 1)
		z.Labels[0] = label
		b.Push(z)
		for k := range want {
			if changed := b.Version(k) != old[k]; changed != want[k] {
				t.Errorf("pushing class %d: class %d changed is %v, expected %v", label, k, changed, want[k])
			}
		}
	}
	step(0, true, false, false)
	step(1, false, true, false)
	step(2, true, false, true) // evicts class 0
	step(2, false, true, true) // evicts class 1
	if b.Sum(0)[0] != 0 || b.Count(0) != 0 {
		t.Error("an empty class is not exactly zero")
	}
}

func TestBankOfIsAPushedBank(t *testing.T) {
	z := randomSet(rand.New(rand.NewPCG(5, 6)), 30, 4, 3, 100)
	pushed := NewBank(30, 4, 3)
	pushed.Push(z)
	if diff := cmp.Diff(pushed.State(), BankOf(z, 3).State(),
		cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Changes" }, cmp.Ignore())); diff != "" {
		t.Error(diff)
	}
}

func TestStateGoesOnToTheSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, filled := range []int{0, 3, 10, 2500} { // empty, partly filled, just full, long after the first refresh
		a, b := NewBank(10, 3, 2), NewBank(10, 3, 2)
		a.Push(randomSet(r, filled, 3, 2, 0))
		for range filled {
			a.Push(randomSet(r, 1, 3, 2, 0))
		}
		if err := b.SetState(a.State()); err != nil {
			t.Fatal(err)
		}
		for range 300 {
			z := randomSet(r, 4, 3, 2, 0)
			a.Push(z)
			b.Push(z)
		}
		if diff := cmp.Diff(a.State(), b.State()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(a.Centres().Data, b.Centres().Data); diff != "" {
			t.Error(diff)
		}
	}
}

// Images counts each ID once per label, also after evictions and a restored state; rows without an ID are separate
// images.
func TestImagesCountsCopiesOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	b := NewBank(30, 4, 3)
	check := func(b *Bank) {
		t.Helper()
		want, seen, set := make([]int, 3), map[shown]bool{}, b.Set()
		for i, k := range set.Labels {
			s := shown{k, set.IDs[i]}
			if s.id < 0 || !seen[s] {
				want[k]++
			}
			seen[s] = true
		}
		for k, n := range want {
			if b.Images(k) != n {
				t.Fatalf("class %d has members of %d images, expected %d", k, b.Images(k), n)
			}
		}
	}
	for i := range 60 {
		z := randomSet(r, 7, 4, 3, 0)
		for j := range z.IDs {
			z.IDs[j] = r.IntN(12)
		}
		if i%5 == 4 {
			z.IDs = nil
		}
		b.Push(z)
		check(b)
		if i%10 == 9 {
			restored := NewBank(30, 4, 3)
			if err := restored.SetState(b.State()); err != nil {
				t.Fatal(err)
			}
			check(restored)
			b = restored
		}
	}
	same := randomSet(r, 9, 4, 1, 0)
	clear(same.IDs)
	if n := BankOf(same, 1).Images(0); n != 9 {
		t.Errorf("%d images of 9 rows of a set", n)
	}
}
