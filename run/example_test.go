package run_test

import (
	"context"
	"fmt"
	"log"

	"winnow/features"
	"winnow/run"
	"winnow/run/config"
	"winnow/train"
)

// This example trains a head with PRISM, the default configuration. An observer prints every step.
func ExampleTrain() {
	set := features.NewSet(40, 8)
	for i := range set.X.Data {
		set.X.Data[i] = float32(i*i%11) - 5
	}
	for i := range set.Labels {
		set.Labels[i] = i % 4
		set.Row(i)[i%4] += 9
	}
	data, err := run.NewData(set, features.Set{})
	if err != nil {
		log.Fatal(err)
	}
	cfg := config.Default()
	cfg.Head.Out, cfg.Length, cfg.Filter.Rate = 4, config.LastsSteps(3), config.GivenRate(0.1)
	cfg.Sampler.Classes, cfg.Sampler.Images = 4, 5
	trained, err := run.Train(context.Background(), cfg, run.Input{Data: &data}, run.Options{},
		train.On(func(s train.Step) {
			fmt.Printf("step %d of epoch %d: %d images\n", s.Number, s.Epoch, len(s.IDs))
		}))
	if err != nil {
		log.Fatal(err)
	}
	c := trained.Head.Config()
	fmt.Printf("a head from %d to %d dimensions, filtered by %s\n", c.In, c.Out, trained.Filter.Scorer)
	// Output:
	// step 1 of epoch 1: 20 images
	// step 2 of epoch 1: 20 images
	// step 3 of epoch 2: 20 images
	// a head from 8 to 4 dimensions, filtered by vmf
}
