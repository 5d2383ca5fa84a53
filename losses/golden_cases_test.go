package losses

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"winnow/internal/testing/reference"
)

// Other golden folders contain what the public one does not; these cases are made here.

func madeCase(t *testing.T, topic, method string, params, fields map[string]any) reference.Case {
	t.Helper()
	c := reference.Case{Topic: topic, Name: "made", Method: method, Params: params,
		Fields: map[string]json.RawMessage{}}
	for key, value := range fields {
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		c.Fields[key] = raw
	}
	return c
}

func checkMade(t *testing.T, c reference.Case) {
	t.Helper()
	goldenChecks[c.Topic][c.Method](t, c)
}

func TestGoldenCaseOfAnEmptyMemory(t *testing.T) {
	for _, form := range []string{"spec", "eq_sum", "code"} {
		checkMade(t, madeCase(t, "losses_pair", "memory_contrastive", map[string]any{"form": form, "lam": 0.5},
			map[string]any{
				"embeddings": [][]float64{{1, 0, 0}, {0, 1, 0}}, "labels": []int{0, 1}, "memory": [][]float64{},
				"memory_labels": []int{},
				"loss":          0.0, "grad": zeros64(2, 3),
			}))
	}
}

// A listed triplet without a loss still says which rows were selected. By hand: Φ^S = (1, 0), Φ = (2/3, 1/3).
func TestGoldenCaseOfAnIdleTriplet(t *testing.T) {
	checkMade(t, madeCase(t, "losses_triplet", "adapted_triplet",
		map[string]any{"lam": 1.0, "margin": 0.2, "reduction": "mean"}, map[string]any{
			"embeddings": [][]float64{{1, 0}, {1, 0}, {0, 1}, {-1, 0}}, "labels": []int{0, 0, 0, 1},
			"indices": [][]int{{0}, {1}, {3}},
			"loss":    2.0 / 9, "grad": [][]float64{{0, -1.0 / 9}, {0, -1.0 / 9}, {-2.0 / 9, 0}, {0, 0}},
		}))
}

// A float32 product of an odd width may differ between equal rows in the last bit.
func TestGoldenCasesOfEquallyHardRows(t *testing.T) {
	for seed := range uint64(30) {
		in := oddBatch(seed)
		settings := map[string]any{"distance": "l2", "margin": 0.3, "reduction": "mean"}
		loss, grad, _ := exactEval(mustNew(t, "triplet", map[string]any{
			"distance": "l2", "margin": 0.3, "reduction": "mean", "select": batchHard,
		}, testEnv(5, 3, 1)), "triplet", in)
		checkMade(t, madeCase(t, "losses_triplet", "triplet_batch_hard", settings, map[string]any{
			"embeddings": in.z, "labels": in.labels, "loss": loss, "grad": grad,
		}))
	}
}

// oddBatch returns four rows of three classes in five dimensions, two of each class equal.
func oddBatch(seed uint64) exactInput {
	rng := rand.New(rand.NewPCG(seed, 7))
	in := exactInput{z: zeros64(12, 5), labels: make([]int, 12), normalize: true}
	for i := range in.z {
		in.labels[i] = i % 3
		for k := range in.z[i] {
			in.z[i][k] = rng.NormFloat64()
		}
	}
	for y := range 3 {
		copy(in.z[y+9], in.z[y])
	}
	return in
}

// Parameters that a case omits, or gives as null, have the defaults of METHODS: all triplets; ε = 0.1.
func TestGoldenCasesWithParametersLeftOut(t *testing.T) {
	in := oddBatch(1)
	loss, grad, _ := exactEval(mustNew(t, "triplet", map[string]any{"distance": "l2", "select": "all"},
		testEnv(5, 3, 1)), "triplet", in)
	for _, params := range []map[string]any{{"distance": "l2"},
		{"distance": "l2", "triplets": nil, "margin": nil, "swap": nil}} {
		checkMade(t, madeCase(t, "losses_triplet", "triplet", params, map[string]any{
			"embeddings": in.z, "labels": in.labels, "loss": loss, "grad": grad,
		}))
	}
	// cos 0.95 to its positive and 0.9 to the negative: within 0.1 of each other.
	rows := [][]float64{{1, 0}, {0.95, 0.31224989991991997}, {0.9, -0.4358898943540673}}
	for _, params := range []map[string]any{{}, {"epsilon": nil}, {"epsilon": 0.1}} {
		checkMade(t, madeCase(t, "miners", "ms_miner", params, map[string]any{
			"embeddings": rows, "labels": []int{0, 0, 1}, "positive_pairs": [][2]int{{0, 1}},
			"negative_pairs": [][2]int{{0, 2}},
		}))
	}
}
