package run

import (
	"context"
	"testing"

	"winnow/features"
	"winnow/run/config"
	"winnow/train"
)

// With a filled bank, the filter drops labels of the first batch of a run. With an empty bank, it keeps all labels.
func TestFilledBank(t *testing.T) {
	for _, fill := range []bool{false, true} {
		data, _ := screened(0.3)
		data.Train.Labels[5] = features.Unlabelled // not in the bank
		cfg := config.Default()
		cfg.Head.Out, cfg.Sampler.Classes, cfg.Sampler.Images, cfg.Length = 8, 4, 4, config.LastsSteps(3)
		cfg.Filter.Rate, cfg.Bank.Size, cfg.Bank.Fill = config.GivenRate(0.3), 100, fill
		cfg.Validation.Every = config.Steps(3)
		var kept []int
		var bank int
		_, err := Train(context.Background(), cfg, Input{Data: &data}, Options{Dir: t.TempDir()},
			train.On(func(s train.Step) {
				kept, bank = append(kept, len(s.Kept)), s.Bank
			}))
		if err != nil {
			t.Fatal(err)
		}
		if judged := kept[0] < 16; judged != fill {
			t.Errorf("fill %v: the filter kept %d of the first 16 images", fill, kept[0])
		}
		if full := bank == 100; full != fill {
			t.Errorf("fill %v: the bank holds %d embeddings after three steps", fill, bank)
		}
	}
}
