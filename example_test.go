package winnow_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"winnow/eval"
	"winnow/features"
	"winnow/losses"
	"winnow/run"
	"winnow/run/config"
)

// drawn draws vectors of similar classes, each around the centre of its class. A share of their labels is wrong; truth
// holds the right ones.
func drawn(seed uint64, classes, each int, wrong float64) (set features.Set, truth []int) {
	const dim = 16
	rng := rand.New(rand.NewPCG(seed, 1))
	centres := features.NewMatrix(classes, dim)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	set = features.NewSet(classes*each, dim)
	for i := range set.Len() {
		set.Labels[i] = i % classes
		for j, v := range features.Row(centres, i%classes) {
			set.Row(i)[j] = v + float32(rng.NormFloat64())
		}
	}
	truth = append(truth, set.Labels...)
	for i := range set.Labels {
		if rng.Float64() < wrong {
			set.Labels[i] = (set.Labels[i] + 1 + rng.IntN(classes-1)) % classes
		}
	}
	return set, truth
}

// Trains a head with PRISM on labels of which a third are wrong, and evaluates it on classes that it has never seen.
func Example_train() {
	ctx := context.Background()
	set, _ := drawn(1, 20, 30, 0.33)
	data, err := run.NewData(set, features.Set{})
	if err != nil {
		log.Fatal(err)
	}
	cfg := config.Default()
	cfg.Filter.Rate = config.GivenRate(0.33)
	cfg.Length = config.LastsSteps(100)
	cfg.Sampler.Classes, cfg.Sampler.Images = 10, 4
	trained, err := run.Train(ctx, cfg, run.Input{Data: &data}, run.Options{})
	if err != nil {
		log.Fatal(err)
	}

	unseen, _ := drawn(2, 20, 30, 0)
	embedded, err := trained.Head.EmbedSet(context.Background(), unseen)
	if err != nil {
		log.Fatal(err)
	}
	r, err := eval.Retrieve(ctx, embedded, nil, eval.RetrievalOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d steps, %d dimensions\n", trained.Step, trained.Head.Config().Out)
	fmt.Printf("P@1 %.1f of %d images\n", r.PrecisionAt1, r.N)
	// Output:
	// 100 steps, 16 dimensions
	// P@1 0.8 of 600 images
}

// Computes a loss and its gradient by each vector, which pulls the two vectors of a class towards each other.
func Example_loss() {
	loss, err := losses.New("contrastive", map[string]any{"margin": 0.5}, losses.Env{Dim: 2, Classes: 2})
	if err != nil {
		log.Fatal(err)
	}
	z, err := features.FromRows([][]float32{{1, 0}, {0.6, 0.8}, {0.8, -0.6}}, []int{0, 0, 1})
	if err != nil {
		log.Fatal(err)
	}
	grad := features.NewMatrix(z.Len(), z.Dim())
	fmt.Printf("loss %.2f\n", loss.Eval(&grad, z, nil))
	for i := range z.Len() {
		fmt.Printf("%.2f\n", features.Row(grad, i))
	}
	// Output:
	// loss 0.47
	// [0.13 -0.93]
	// [-0.67 0.00]
	// [0.67 0.00]
}
