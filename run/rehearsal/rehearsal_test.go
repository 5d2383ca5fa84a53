package rehearsal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/suspects"
	"winnow/features"
)

// album is an audit's list of n images of three classes. In one cluster of each class nearly all labels are wrong,
// which the scores do not tell.
func album(seed uint64, n int) (list []suspects.Suspect, x blas32.General) {
	rng := rand.New(rand.NewPCG(seed, 3))
	const dim = 8
	names := []string{"ant", "bee", "cow"}
	x = features.NewMatrix(n, dim)
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = rng.Float64()
	}
	slices.Sort(scores)
	for i := range n {
		k, cluster := rng.IntN(3), rng.IntN(4)
		row := features.Row(x, i)
		for j := range row {
			row[j] = 0.2 * float32(rng.NormFloat64())
		}
		row[k]++
		row[3+cluster] += 2
		s := suspects.Suspect{Rank: i + 1, Path: fmt.Sprintf("%04d.png", i), True: names[k], Given: names[k],
			Score: scores[i]}
		if cluster == 0 && rng.Float64() < 0.9 || rng.Float64() < 0.02 {
			s.Given = names[(k+1)%3]
		}
		s.Suggested = s.Given
		s.GivenProbability = &scores[i]
		list = append(list, s)
	}
	return list, x
}

func TestPlay(t *testing.T) {
	list, x := album(1, 400)
	s, err := NewStage(context.Background(), list, x)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Play(context.Background(), Options{At: []int{60, 100, 400}})
	if err != nil {
		t.Fatal(err)
	}
	last := p.Points[len(p.Points)-1]
	if last.Decisions != 400 || last.Found != p.Wrong || last.FoundByList != p.Wrong || last.Left.High != 0 {
		t.Errorf("after all images: %+v, expected the %d wrong labels and none left", last, p.Wrong)
	}
	if half := p.Reached[0]; *half.Decisions > *half.ByList*2/3 {
		t.Errorf("half of the errors after %d decisions, down the list after %d", *half.Decisions, *half.ByList)
	}
	again, err := s.Play(context.Background(), Options{At: []int{60, 100, 400}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Errorf("played again it differs:\n%s", diff)
	}
	begun, err := s.Play(context.Background(), Options{Check: 60, Decisions: 80, Reviewers: 2, Mistaken: 0.03,
		At: []int{60}})
	if err != nil {
		t.Fatal(err)
	}
	if at := begun.Points[0]; at.Decisions != 60 || at.Draws != 60 || at.Wrong.High-at.Wrong.Low >= 400 {
		t.Errorf("after a check of 60: %+v", at)
	}
	if text := begun.Text(); !strings.Contains(text, "by list") || !strings.Contains(text, "without features") {
		t.Errorf("text:\n%s", text)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	list, _ := album(2, 30)
	known := filepath.Join(dir, "known.csv")
	if err := suspects.WriteFile(known, list); err != nil {
		t.Fatal(err)
	}
	s, folder, err := Open(context.Background(), known, "")
	if err != nil || folder != "" || len(s.list) != 30 {
		t.Errorf("without features: %v, %q", err, folder)
	}
	if err := os.Mkdir(filepath.Join(dir, "known.features"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(context.Background(), known, ""); err == nil {
		t.Error("an empty folder of features next to the list is no error")
	}
	list[7].True = ""
	unknown := filepath.Join(dir, "unknown.csv")
	if err := suspects.WriteFile(unknown, list); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(context.Background(), unknown, ""); err == nil || !strings.Contains(err.Error(), "0007.png") {
		t.Errorf("a missing true label: %v", err)
	}
}
